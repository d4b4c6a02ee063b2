// Diagnostics: messages, queries about the library, benchmarks. The variadic functions are C:
// CDispatchStorage/Messages.c formats the text and calls these.
import CGrandCentralStorage

/// Writes a description of an object and the program's text as a line to standard error.
@c(gc_report_object)
public func reportObject(_ object: Handle?, _ text: UnsafePointer<CChar>) {
  report(.clientText, "\(describe(object)): \(String(cString: text))")
}

/// Writes a line to standard error.
@c(gc_report_text)
public func reportText(_ text: UnsafePointer<CChar>) { report(.clientText, String(cString: text)) }

/// Describes an object in messages.
func describe(_ object: Handle?) -> String {
  guard let object else { return "NULL" }
  if isNoObject(object) && object != gc_main_queue_address() {
    return "object \(object) that never ends"
  }
  let known = anyObject(object).takeUnretainedValue()
  if let queue = known as? DispatchQueue { return "queue '\(queue.label)' \(object)" }
  return "\(type(of: known)) \(object)"
}

/// Reports an internal error of the library. This library never calls it.
@c(_dispatch_bug)
public func dispatchBug(_ line: UInt, _ value: Int) {
  report(.clientText, "BUG IN GRAND CENTRAL: line \(line), value \(value).")
}

// MARK: Measuring

/// Returns the average time of a call of a block over `count` calls in sequence, in nanoseconds.
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

/// Whether this library may have created threads: always true.
@c(_dispatch_is_multithreaded)
public func dispatchIsMultithreaded() -> Bool { true }

/// Does nothing: it would forbid the library to create threads, which it creates only when work
/// needs them.
@c(_dispatch_prohibit_transition_to_multithreaded)
public func dispatchProhibitTransitionToMultithreaded(_ prohibits: Bool) {}

/// Spins until a word that another thread is about to write is not NULL, and returns the word.
@c(_dispatch_wait_for_enqueuer)
public func dispatchWaitForEnqueuer(
  _ word: UnsafeMutablePointer<UnsafeMutableRawPointer?>
) -> UnsafeMutableRawPointer? {
  // SAFETY: an Atomic<UInt> has the layout of a word in memory.
  let word = UnsafeMutableRawPointer(word).assumingMemoryBound(to: Atomic<UInt>.self)
  while true {
    // acquiring: the contents of the object that the word points to.
    let seen = word.pointee.load(ordering: .acquiring)
    if seen != 0 { return UnsafeMutableRawPointer(bitPattern: seen) }
    spinHint()
  }
}

/// Does nothing: events are delivered without polling.
@c(_dispatch_poll_for_events_4launchd)
public func dispatchPollForEvents() {}

/// Does nothing: it would set buffer sizes of another implementation's channels.
@c(_dispatch_iocntl)
public func dispatchIOControl(_ parameter: UInt32, _ value: UInt64) {}
