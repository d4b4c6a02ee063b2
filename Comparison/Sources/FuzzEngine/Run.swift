// Purpose: one run of one program: the engine's objects, and the detection of the run's end.

import FuzzKit

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

// SAFETY: `handles` is set before the drivers start and cleared after everything has ended. All
// other properties are constant or thread-safe.
final class Run: @unchecked Sendable {
  let program: Program
  let fault: Fault?
  let log: EventLog
  let tally: Tally
  let objects: Objects
  /// The flags that busy waits poll.
  let flags: Flags?
  let fixedWidth: FixedWidth?
  /// The work item of each item that has one, by the item's number.
  var handles: [DispatchWorkItem?] = []
  /// The items that the tally omits, because a cancelled item may never run.
  let cancellable: Set<Int>
  private let flushed: [Int]

  init(_ program: Program, fault: Fault?) {
    self.program = program
    self.fault = fault
    let ops = program.allOps
    let idLimit = program.idLimit
    log = EventLog(capacity: 6 * idLimit + 16)
    tally = Tally(drivers: program.drivers.count)
    objects = Objects(program, fault: fault)
    flags = Flags(program)
    fixedWidth = fault == .keepsWidth ? FixedWidth(2) : nil
    cancellable = Set(
      ops.compactMap { op in
        if case .cancel(_, let item) = op { item } else { nil }
      })
    var queues: Set<Int> = []
    let submissions = ops.flatMap(\.submissions).filter(\.hasHandle)
    for submission in submissions
    where cancellable.contains(submission.item.id) && !submission.way.isInline {
      queues.insert(submission.queue)
    }
    flushed = queues.sorted()
    guard !submissions.isEmpty else { return }
    handles = Array(repeating: nil, count: idLimit)
    for submission in submissions { handles[submission.item.id] = handle(for: submission) }
  }

  private func handle(for submission: Submission) -> DispatchWorkItem {
    let flags: DispatchWorkItemFlags =
      submission.isBarrier && fault != .ignoresBarriers ? .barrier : []
    let item = submission.item
    let isCounted = !submission.way.isInline && !cancellable.contains(item.id)
    let isTimed: Bool
    if case .after = submission.way { isTimed = true } else { isTimed = false }
    return DispatchWorkItem(qos: objects.qos(submission.qos), flags: flags) { [self] in
      run(item, startedAt: isTimed ? objects.nanoseconds : 0)
      if isCounted { tally.end() }
    }
  }

  /// Runs the drivers. Returns when nothing of the program is left in the engine.
  func runToEnd(_ crew: Crew) {
    crew.run(program.drivers.count) { [self] number in
      perform(program.drivers[number])
      tally.end()
    }
    tally.waitForAll()
    flush()
    // The handles' closures retain this run.
    handles = []
  }

  /// Waits for the items that may have been cancelled. Each is over, run or not, when its queue has
  /// run a later barrier. An item may have submitted others, so this repeats until the log stops
  /// growing.
  private func flush() {
    if flushed.isEmpty { return }
    var count: Int
    repeat {
      count = log.count
      for queue in flushed { objects.queues[queue].sync(flags: .barrier) {} }
      tally.waitForAll()
    } while count != log.count
  }
}
