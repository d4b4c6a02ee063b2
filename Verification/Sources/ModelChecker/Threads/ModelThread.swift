// Room: ModelChecker/ModelThread. One thread of the checked program, on a fiber.
//   ready ─sleep→ asleep ─wake, timeout→ ready ─body returns→ finished
import CFibers

struct ModelThread {
  enum State: UInt8 {
    case unused
    case ready
    case asleep
    case finished
  }

  var state = State.unused
  /// May be asleep when all other threads have finished, as the workers of a pool are.
  var isDaemon = false
  var fiber = gc_fiber()
  var stack: UnsafeMutableRawPointer?
  /// The fiber's saved stack belongs to an abandoned execution.
  var needsNewStack = true
  var body: (() -> Void)?
  var name = ""

  var pending = Step(kind: .local, location: nil, site: .none)
  /// The steps that happen before the thread's next step, by the memory model; its own component is
  /// its time.
  var memory = VectorClock.zero
  /// The same for the search, which orders every two steps that do not commute.
  var order = VectorClock.zero

  /// The time at which its sleep ends by itself; `nil`: never.
  var deadline: UInt64?
  /// Its position in the queue of sleepers, by the time at which it fell asleep.
  var asleepSince: UInt64 = 0

  // The spurious outcomes that the thread may still have.
  var timeOutsLeft = 0
  var spuriousWakesLeft = 0
  var spuriousFailuresLeft = 0
  var refusalsLeft = 0
}
