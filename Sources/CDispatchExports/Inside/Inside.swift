// Snapshots of the process and functions for what is stuck: <dispatch/grandcentral.h>.
import CGrandCentralStorage

#if !GRANDCENTRAL_DROPIN
  import GrandCentralBoard
#endif

/// A snapshot that a C program holds, with its strings in the form of C.
private final class HeldSnapshot {
  let threads: [ThreadRecord]
  let queues: [QueueRecord]
  let findings: [Finding]
  private var strings: [UnsafeMutablePointer<CChar>] = []
  private(set) var text: UnsafePointer<CChar>?
  private(set) var findingTexts: [UnsafePointer<CChar>] = []
  private(set) var names: [UnsafePointer<CChar>] = []
  private(set) var labels: [UnsafePointer<CChar>] = []

  init(_ dump: Dump?) {
    threads = dump?.analysis.snapshot.threads ?? []
    queues = dump?.analysis.snapshot.queues.values ?? []
    findings = dump?.findings ?? []
    text = keep(
      dump?.text(all: false, style: Style(isColoured: false))
        ?? "This process has not used a queue yet.\n")
    findingTexts = findings.map { keep(FindingWords.text($0.headline, $0.details)) }
    names = threads.map { keep($0.name) }
    labels = queues.map { keep($0.label) }
  }

  deinit { for string in strings { free(string) } }

  private func keep(_ text: String) -> UnsafePointer<CChar> {
    guard let copy = strdup(text) else { engineFault("strdup(3): no memory for a snapshot.") }
    strings.append(copy)
    return UnsafePointer(copy)
  }
}

/// Returns the object behind a handle, which the program keeps until it frees it.
private func held(_ handle: Handle?) -> HeldSnapshot {
  guard let handle else {
    clientFault(
      "grandcentral_snapshot_get_…() was called with NULL. Pass what grandcentral_snapshot_create() returned."
    )
  }
  // SAFETY: the header's contract.
  return Unmanaged<HeldSnapshot>.fromOpaque(handle).takeUnretainedValue()
}

/// Returns the element at an index.
private func at<Element>(
  _ index: Int, in elements: [Element], _ noun: StaticString
) -> Element {
  require(
    elements.indices.contains(index),
    "grandcentral_snapshot_get_\(noun)_…(): index \(index) is not below the count, \(elements.count)."
  )
  return elements[index]
}

@c(grandcentral_snapshot_create)
public func snapshotCreate(_ stuckAfter: UInt64) -> Handle {
  Unmanaged.passRetained(HeldSnapshot(Dump.ofThisProcess(stuckAfter: stuckAfter))).toOpaque()
}

@c(grandcentral_snapshot_free)
public func snapshotFree(_ snapshot: Handle?) {
  // SAFETY: the reference of the function above.
  if let snapshot { Unmanaged<HeldSnapshot>.fromOpaque(snapshot).release() }
}

@c(grandcentral_snapshot_get_text)
public func snapshotText(_ snapshot: Handle?) -> UnsafePointer<CChar>? { held(snapshot).text }

// MARK: Findings

@c(grandcentral_snapshot_get_finding_count)
public func snapshotFindingCount(_ snapshot: Handle?) -> Int { held(snapshot).findings.count }

@c(grandcentral_snapshot_get_finding_kind)
public func snapshotFindingKind(_ snapshot: Handle?, _ index: Int) -> Int32 {
  switch at(index, in: held(snapshot).findings, "finding").kind {
  case .deadlock: 1
  case .explosion: 2
  case .forgottenResume: 3
  case .suspectedDeadlock: 4
  case .stuckQueue: 5
  case .forgottenLeave: 6
  }
}

@c(grandcentral_snapshot_get_finding_text)
public func snapshotFindingText(_ snapshot: Handle?, _ index: Int) -> UnsafePointer<CChar> {
  at(index, in: held(snapshot).findingTexts, "finding")
}

// MARK: Threads

private func thread(_ snapshot: Handle?, _ index: Int) -> ThreadRecord {
  at(index, in: held(snapshot).threads, "thread")
}

@c(grandcentral_snapshot_get_thread_count)
public func snapshotThreadCount(_ snapshot: Handle?) -> Int { held(snapshot).threads.count }

@c(grandcentral_snapshot_get_thread_id)
public func snapshotThreadID(_ snapshot: Handle?, _ index: Int) -> UInt32 {
  thread(snapshot, index).id
}

@c(grandcentral_snapshot_get_thread_name)
public func snapshotThreadName(_ snapshot: Handle?, _ index: Int) -> UnsafePointer<CChar> {
  at(index, in: held(snapshot).names, "thread")
}

@c(grandcentral_snapshot_get_thread_activity)
public func snapshotThreadActivity(_ snapshot: Handle?, _ index: Int) -> Int32 {
  Int32(thread(snapshot, index).activity.rawValue)
}

@c(grandcentral_snapshot_get_thread_since)
public func snapshotThreadSince(_ snapshot: Handle?, _ index: Int) -> UInt64 {
  thread(snapshot, index).since
}

@c(grandcentral_snapshot_get_thread_queue)
public func snapshotThreadQueue(_ snapshot: Handle?, _ index: Int) -> UInt32 {
  let thread = thread(snapshot, index)
  return thread.held.first { $0 != 0 } ?? thread.queue
}

@c(grandcentral_snapshot_get_thread_awaited)
public func snapshotThreadAwaited(_ snapshot: Handle?, _ index: Int) -> Int32 {
  Int32(thread(snapshot, index).wait.rawValue)
}

@c(grandcentral_snapshot_get_thread_awaited_queue)
public func snapshotThreadAwaitedQueue(_ snapshot: Handle?, _ index: Int) -> UInt32 {
  thread(snapshot, index).awaitedQueue
}

@c(grandcentral_snapshot_get_thread_holder)
public func snapshotThreadHolder(_ snapshot: Handle?, _ index: Int) -> UInt32 {
  thread(snapshot, index).holder
}

// MARK: Queues

private func record(_ snapshot: Handle?, _ index: Int) -> QueueRecord {
  at(index, in: held(snapshot).queues, "queue")
}

@c(grandcentral_snapshot_get_queue_count)
public func snapshotQueueCount(_ snapshot: Handle?) -> Int { held(snapshot).queues.count }

@c(grandcentral_snapshot_get_queue_id)
public func snapshotQueueID(_ snapshot: Handle?, _ index: Int) -> UInt32 {
  record(snapshot, index).place
}

@c(grandcentral_snapshot_get_queue_label)
public func snapshotQueueLabel(_ snapshot: Handle?, _ index: Int) -> UnsafePointer<CChar> {
  at(index, in: held(snapshot).labels, "queue")
}

@c(grandcentral_snapshot_get_queue_kind)
public func snapshotQueueKind(_ snapshot: Handle?, _ index: Int) -> Int32 {
  switch record(snapshot, index).kind {
  case .unknown: 0
  case .serial: 1
  case .concurrent: 2
  case .global: 3
  case .main: 4
  }
}

@c(grandcentral_snapshot_get_queue_qos_class)
public func snapshotQueueQoSClass(_ snapshot: Handle?, _ index: Int) -> UInt32 {
  let numbers: [UInt32] = [0, 0x09, 0x11, 0x15, 0x19, 0x21]
  let band = Int(record(snapshot, index).band)
  return numbers.indices.contains(band) ? numbers[band] : 0
}

@c(grandcentral_snapshot_get_queue_target)
public func snapshotQueueTarget(_ snapshot: Handle?, _ index: Int) -> UInt32 {
  record(snapshot, index).target
}

@c(grandcentral_snapshot_get_queue_suspended_since)
public func snapshotQueueSuspendedSince(_ snapshot: Handle?, _ index: Int) -> UInt64 {
  record(snapshot, index).suspendedSince
}

// MARK: What is stuck

/// A function of the program with its context.
private struct StuckFunction: @unchecked Sendable {
  let context: UnsafeMutableRawPointer?
  let function: @convention(c) (UnsafeMutableRawPointer?, Handle?) -> Void
}

private final class StuckHandle: Sendable {
  let observer: BoardObserver?
  init(_ observer: BoardObserver?) { self.observer = observer }
}

@c(grandcentral_when_stuck_f)
public func whenStuckFunction(
  _ interval: UInt64, _ context: UnsafeMutableRawPointer?,
  _ function: @convention(c) (UnsafeMutableRawPointer?, Handle?) -> Void
) -> Handle {
  require(
    interval > 0,
    "grandcentral_when_stuck_f(0): the interval must be positive, or every wait would be stuck at once."
  )
  guard interval < UInt64.max else { return Unmanaged.passRetained(StuckHandle(nil)).toOpaque() }
  let call = StuckFunction(context: context, function: function)
  let begun = StuckWatch.begin(after: interval) { dump, _ in
    let snapshot = HeldSnapshot(dump)
    return {
      withExtendedLifetime(snapshot) {
        call.function(call.context, Unmanaged.passUnretained(snapshot).toOpaque())
      }
    }
  }
  StuckWatch.reportRefusal(begun.error, of: "grandcentral_when_stuck_f()")
  return Unmanaged.passRetained(StuckHandle(begun.observer)).toOpaque()
}

@c(grandcentral_stuck_handler_cancel)
public func stuckHandlerCancel(_ handler: Handle?) {
  guard let handler else {
    clientFault("grandcentral_stuck_handler_cancel(): the handler is NULL. Pass a registration.")
  }
  // SAFETY: the reference of the function above.
  let handle = Unmanaged<StuckHandle>.fromOpaque(handler).takeRetainedValue()
  handle.observer.map(BlackBox.shared.watch.remove)
}
