// Room: Queues/MainSignal. What the main thread has to do, and whether it sleeps.
// `work` is set each time the main queue's lane is locked for its drain, so the thread that clears
// it owns the lane.
//   bit 0 work    the main queue has an activation
//   bit 1 retry   a threadless retry has begun: the main thread makes one more pass
//   bit 2 asleep  the main thread sleeps in dispatchMain() until bit 0 or 1 is set
//   0 ─announced, called→ that bit: the main thread is awake     any ─taken→ 0
//   0 ─fellAsleep→ asleep ─announced, called→ asleep and that bit; wake
// The futex call compares the word with `asleep` alone, so no sleep begins while another bit is
// set.
// Model: Verification/Models/Scenes/MainQueueModels.swift.

struct MainSignal: StateWord {
  let rawValue: UInt32

  private static let work: UInt32 = 1
  private static let retries: UInt32 = 2
  static var empty: MainSignal { MainSignal(rawValue: 0) }
  static var asleep: MainSignal { MainSignal(rawValue: 4) }

  var hasWork: Bool { rawValue & Self.work != 0 }
  private var isAsleep: Bool { rawValue & Self.asleep.rawValue != 0 }

  var isValid: Bool { rawValue < 8 }

  /// Announces work. `wakes`: the main thread sleeps, and the caller must wake it.
  func announced() -> (MainSignal, wakes: Bool) {
    (MainSignal(rawValue: rawValue | Self.work), isAsleep)
  }

  /// Calls the main thread to take part in a threadless retry. `wakes`: as above.
  func called() -> (MainSignal, wakes: Bool) {
    (MainSignal(rawValue: rawValue | Self.retries), isAsleep)
  }

  /// The main thread has seen all that came. It is awake.
  func taken() -> (MainSignal, hadWork: Bool) { (.empty, hasWork) }

  /// The main thread is about to sleep. `nil`: there is a reason to run.
  func fellAsleep() -> MainSignal? { self == .empty ? .asleep : nil }
}
