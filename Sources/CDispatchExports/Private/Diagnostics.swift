// What programs ask of the library about itself, and what it tells. The functions with any number of arguments are C:
// CDispatchStorage/Messages.c formats them and calls these.
import CDispatchStorage

/// Writes what an object is, and the program's words, as a line to standard error.
@c(gc_report_object)
public func reportObject(_ object: Handle?, _ text: UnsafePointer<CChar>) {
  report(.clientText, "\(describe(object)): \(String(cString: text))")
}

/// Writes a line to standard error.
@c(gc_report_text)
public func reportText(_ text: UnsafePointer<CChar>) { report(.clientText, String(cString: text)) }

/// What an object is, for messages.
func describe(_ object: Handle?) -> String {
  guard let object else { return "NULL" }
  if isNoObject(object) && object != gc_main_queue_address() {
    return "object \(object) that never ends"
  }
  let known = anyObject(object).takeUnretainedValue()
  if let queue = known as? DispatchQueue { return "queue '\(queue.label)' \(object)" }
  return "\(type(of: known)) \(object)"
}

/// Says that this library found itself in a state that it should not be in. For its own use elsewhere.
@c(_dispatch_bug)
public func dispatchBug(_ line: UInt, _ value: Int) {
  report(.clientText, "BUG IN GRAND CENTRAL: line \(line), value \(value).")
}

// MARK: Measuring

/// How many nanoseconds a call of a block takes, in the middle of `count` calls one after the other.
@c(dispatch_benchmark)
public func dispatchBenchmark(_ count: Int, _ block: UnsafeMutableRawPointer) -> UInt64 {
  dispatchBenchmarkFunction(count, block, Block.call)
}

@c(dispatch_benchmark_f)
public func dispatchBenchmarkFunction(
  _ count: Int, _ context: UnsafeMutableRawPointer?, _ work: ClientFunction
) -> UInt64 {
  guard count > 0 else { return 0 }
  let start = Clock.monotonicNanoseconds()
  for _ in 0..<count { work(context) }
  return (Clock.monotonicNanoseconds() - start) / UInt64(count)
}

// MARK: Threads

/// Whether this library may have made threads: it may at any time.
@c(_dispatch_is_multithreaded)
public func dispatchIsMultithreaded() -> Bool { true }

/// Whether this process was forked from one that had threads of this library's and must not use it. It may: see
/// Docs/Fork.md.
@c(_dispatch_is_fork_of_multithreaded_parent)
public func dispatchIsForkOfMultithreadedParent() -> Bool { false }

/// Asks that no thread be made before the next call says otherwise. Threads are made when work comes, not before, and
/// then they are needed.
@c(_dispatch_prohibit_transition_to_multithreaded)
public func dispatchProhibitTransitionToMultithreaded(_ prohibits: Bool) {}

/// Waits until a word that another thread is about to write is not NULL, and returns it.
@c(_dispatch_wait_for_enqueuer)
public func dispatchWaitForEnqueuer(
  _ word: UnsafeMutablePointer<UnsafeMutableRawPointer?>
) -> UnsafeMutableRawPointer? {
  // SAFETY: an Atomic<UInt> is a word in memory.
  let word = UnsafeMutableRawPointer(word).assumingMemoryBound(to: Atomic<UInt>.self)
  while true {
    // acquiring: what the word points to.
    let seen = word.pointee.load(ordering: .acquiring)
    if seen != 0 { return UnsafeMutableRawPointer(bitPattern: seen) }
    spinHint()
  }
}

/// Looks for events. They come by themselves.
@c(_dispatch_poll_for_events_4launchd)
public func dispatchPollForEvents() {}

/// Sets sizes that channels of another design have.
@c(_dispatch_iocntl)
public func dispatchIOControl(_ parameter: UInt32, _ value: UInt64) {}
