// Room: Pool/MonitorMode. Whether the monitor has a thread, and whether that thread is awake.
//   absent ─starting→ starting ─began→ watching ─resting→ asleep ─woken→ watching
//   starting ─refused→ absent       the system made no thread
//   asleep ─ended→ absent           the thread ends the process
// The thread sleeps on the word while it is `asleep`. The pairs with submitters are argued in
// Monitor.rest() and Monitor.start().
// Model: Verification/Models/Scenes/MonitorModels.swift.

struct MonitorMode: StateWord {
  let rawValue: UInt32

  static var absent: MonitorMode { MonitorMode(rawValue: 0) }
  static var watching: MonitorMode { MonitorMode(rawValue: 1) }
  static var asleep: MonitorMode { MonitorMode(rawValue: 2) }
  static var starting: MonitorMode { MonitorMode(rawValue: 3) }

  var isValid: Bool { rawValue <= Self.starting.rawValue }

  /// Whether the thread exists and has begun.
  var hasThread: Bool { self == .watching || self == .asleep }

  /// A thread is to be made. `nil`: there is one, or it is being made.
  func starting() -> MonitorMode? { self == .absent ? .starting : nil }

  /// The system made no thread. `nil`: the thread has begun, so it was made.
  func refused() -> MonitorMode? { self == .starting ? .absent : nil }

  /// The thread begins to watch. `nil`: no thread was being made.
  func began() -> MonitorMode? { self == .starting ? .watching : nil }

  /// The thread is about to sleep. `nil`: no thread is awake.
  func resting() -> MonitorMode? { self == .watching ? .asleep : nil }

  /// The thread must not sleep any longer. `nil`: it does not sleep.
  func woken() -> MonitorMode? { self == .asleep ? .watching : nil }

  /// The thread is the last one of the process, and ends it. `nil`: it must not sleep any longer.
  func ended() -> MonitorMode? { self == .asleep ? .absent : nil }
}
