// Room: Platform/SignalActions. The actions for signals that sources count: CLinux/Signals.c.
import CGrandCentralLinux

enum SignalActions {
  /// The numbers of all signals. Some cannot be caught.
  static let numbers: ClosedRange<Int32> = 1...64

  static func canBeCaught(_ number: Int32) -> Bool { gc_signal_can_be_caught(number) }

  /// Counts deliveries from now on. One caller at a time. Returns 0 or an errno, sigaction(2); for
  /// a signal that can be caught it is always 0.
  static func install(_ number: Int32) -> Int32 { gc_signal_install(number) }

  /// Restores the earlier action, if no other has been set since.
  static func uninstall(_ number: Int32) { gc_signal_uninstall(number) }

  /// Takes the number of deliveries since the last call.
  static func take(_ number: Int32) -> UInt64 { gc_signal_take(number) }

  /// Sets the wake-up descriptor that each delivery signals. Called once.
  static func setWakeDescriptor(_ descriptor: Int32) { gc_signal_set_eventfd(descriptor) }

  /// Makes the thread that receives signals which no thread of the program receives, unless it
  /// exists. Returns 0 or an errno, pthread_create(3).
  static func startThread() -> Int32 { gc_signal_thread_start() }

  /// Makes that thread receive the signal from now on.
  static func open(_ number: Int32) { gc_signal_open(number) }

  /// Ends that. await() takes the result.
  static func close(_ number: Int32) -> UInt32 { gc_signal_close(number) }

  /// Waits until that thread blocks what was closed.
  static func await(_ change: UInt32) { gc_signal_await(change) }

  /// Called at the end of the main thread, whose signals another thread receives from now on.
  static func standInForMain() { gc_signal_stand_in() }
}
