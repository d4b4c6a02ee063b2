// Room: Kernel/SignalActions. The process's signal actions, where sources count signals: CLinux/Signals.c.
import CLinux

enum SignalActions {
  /// The numbers of signals; some of them can be caught by nobody.
  static let numbers: ClosedRange<Int32> = 1...64

  static func canBeCaught(_ number: Int32) -> Bool { gc_signal_can_be_caught(number) }

  /// Deliveries count from now on. One caller at a time. Returns 0 or an errno, which for a signal that can be caught
  /// there never is: sigaction(2).
  static func install(_ number: Int32) -> Int32 { gc_signal_install(number) }

  /// The action that was there before is there again, if nobody has set another since.
  static func uninstall(_ number: Int32) { gc_signal_uninstall(number) }

  /// The deliveries since this was last called.
  static func take(_ number: Int32) -> UInt64 { gc_signal_take(number) }

  /// What is rung after each delivery. Called once.
  static func setBell(_ descriptor: Int32) { gc_signal_set_bell(descriptor) }
}
