// Room: Queues/MainSignal. What the main thread has to do, and whether it sleeps.
// `work` is set each time the main queue's lane is locked for its drain, so the thread that clears
// it owns the lane.
//   bit 0 work    the main queue has an activation
//   bit 1 retry   a threadless retry has begun: the main thread makes one more pass
//   bit 2 asleep  the main thread sleeps in dispatchMain() until bit 0 or 1 is set
//   bit 3 ended   the main thread has ended: workers drain the queue (MainQueue+End)
//   0 ─announced, called→ that bit: the main thread is awake     any ─taken→ 0, or ended
//   0 ─fellAsleep→ asleep ─announced, called→ asleep and that bit; wake
//   any ─ended→ ended ─announced→ ended. The thread that makes this change sends a worker, as the
//   ending thread does if bit 0 was set
// The futex call compares the word with `asleep` alone, so no sleep begins while another bit is
// set.
// Model: Verification/Models/Scenes/MainQueueModels.swift.

struct MainSignal: StateWord {
  let rawValue: UInt32

  private static let work: UInt32 = 1
  private static let retries: UInt32 = 2
  static var empty: MainSignal { MainSignal(rawValue: 0) }
  static var asleep: MainSignal { MainSignal(rawValue: 4) }
  static var mainEnded: MainSignal { MainSignal(rawValue: 8) }

  var hasWork: Bool { rawValue & Self.work != 0 }
  private var isAsleep: Bool { rawValue & Self.asleep.rawValue != 0 }
  var hasEnded: Bool { rawValue & Self.mainEnded.rawValue != 0 }

  var isValid: Bool { rawValue < 16 && !(isAsleep && hasEnded) && !(hasWork && hasEnded) }

  /// What a thread that announces work must do for it.
  enum Need {
    /// The main thread is awake.
    case nothing
    case wakeMain
    /// The caller keeps the activation.
    case sendWorker
  }

  /// Announces work.
  func announced() -> (MainSignal, Need) {
    if hasEnded { return (self, .sendWorker) }
    return (MainSignal(rawValue: rawValue | Self.work), isAsleep ? .wakeMain : .nothing)
  }

  /// Calls the main thread to take part in a threadless retry. `wakes`: it sleeps, and the caller
  /// must wake it.
  func called() -> (MainSignal, wakes: Bool) {
    (MainSignal(rawValue: rawValue | Self.retries), isAsleep)
  }

  /// The main thread has seen all that came. It is awake.
  func taken() -> (MainSignal, hadWork: Bool) { (hasEnded ? .mainEnded : .empty, hasWork) }

  /// The main thread ends. `hadWork`: it takes over an activation.
  func ended() -> (MainSignal, hadWork: Bool) { (.mainEnded, hasWork) }

  /// The main thread is about to sleep. `nil`: there is a reason to run.
  func fellAsleep() -> MainSignal? { self == .empty ? .asleep : nil }
}
