// Room: ModelChecker/ModelThread. One thread of the checked program, on a fiber.
//   ready ─sleep→ asleep ─wake, time-out→ ready ─body returns→ finished
import CFibers

struct ModelThread {
  enum State: UInt8 {
    case unused
    case ready
    case asleep
    case finished
  }

  var state = State.unused
  /// May be left asleep when all others have finished, as the workers of a pool are.
  var isDaemon = false
  var fiber = gc_fiber()
  var stack: UnsafeMutableRawPointer?
  /// The fiber's saved stack is of an execution that was abandoned.
  var needsNewStack = true
  var body: (() -> Void)?
  var name = ""

  var pending = Step(kind: .local, location: nil, site: .none)
  /// What happens before the thread's next step, as the memory model says; its own component is its time.
  var memory = VectorClock.zero
  /// The same as the search says: every two steps that do not commute are ordered.
  var order = VectorClock.zero

  /// When its sleep ends by itself; `nil`: never.
  var deadline: UInt64?
  /// Its place in the queue of sleepers, by time of falling asleep.
  var asleepSince: UInt64 = 0

  // What may still go wrong for no reason of the program's.
  var timeOutsLeft = 0
  var spuriousWakesLeft = 0
  var spuriousFailuresLeft = 0
  var refusalsLeft = 0
}
