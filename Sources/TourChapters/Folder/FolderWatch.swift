// Purpose: watches files and folders under names of the chapter's own, prints each event as it
// comes, and lets the chapter wait until a change has been told.

import GrandCentral
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

typealias FileEvents = DispatchSource.FileSystemEvent

// SAFETY: everything that changes is only touched by items and handlers of `queue`.
final class FolderWatch: @unchecked Sendable {
  private let queue = DispatchQueue(label: "tour.folder")
  private let report: ChapterReport
  private let closing = DispatchGroup()
  private var sources: [String: any DispatchSourceFileSystemObject] = [:]
  /// What the step expects and has not been told, by name.
  private var wanted: [String: FileEvents] = [:]
  private var whenTold: DispatchSemaphore?
  private var stepStart = Machine.nanoseconds
  private(set) var eventCount = 0

  init(report: ChapterReport) {
    self.report = report
  }

  /// Watches what `path` stands for now, from when this returns on. False when it cannot be opened.
  func watch(_ name: String, _ path: Path) -> Bool {
    let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else { return false }
    let source = DispatchSource.makeFileSystemObjectSource(
      fileDescriptor: descriptor, eventMask: .all, queue: queue)
    let isWatching = DispatchSemaphore(value: 0)
    closing.enter()
    source.setRegistrationHandler { isWatching.signal() }
    source.setEventHandler { [self] in note(source.data, of: name) }
    source.setCancelHandler { [closing] in
      close(descriptor)
      closing.leave()
    }
    queue.sync {
      sources[name]?.cancel()
      sources[name] = source
    }
    source.activate()
    isWatching.wait()
    return true
  }

  /// From here on until `settle` events count for one step.
  func beginStep(expecting events: [String: FileEvents]) {
    queue.sync {
      wanted = events
      whenTold = DispatchSemaphore(value: 0)
      stepStart = Machine.nanoseconds
    }
  }

  /// Waits until all that the step expects has been told; gives what is missing.
  func settle(seconds: Int = 10) -> [String: FileEvents] {
    let semaphore = queue.sync { whenTold }
    _ = semaphore?.wait(timeout: .now() + .seconds(seconds))
    return queue.sync { missing }
  }

  /// Ends all sources and waits until their descriptors are closed.
  func stop() -> Bool {
    queue.sync {
      for source in sources.values { source.cancel() }
      sources = [:]
    }
    return closing.wait(timeout: .now() + .seconds(10)) == .success
  }

  private var missing: [String: FileEvents] {
    wanted.compactMapValues { $0.isEmpty ? nil : $0 }
  }

  private func note(_ events: FileEvents, of name: String) {
    let time = Wording.milliseconds(Machine.nanoseconds - stepStart)
    report.tell("\(Wording.right(time, 9))  \(name): \(events.words)")
    eventCount += 1
    let isComplete = missing.isEmpty
    wanted[name]?.subtract(events)
    if !isComplete && missing.isEmpty { whenTold?.signal() }
  }
}

extension FileEvents {
  private static let names: [(FileEvents, String)] = [
    (.write, "write"), (.extend, "extend"), (.attrib, "attrib"), (.link, "link"),
    (.rename, "rename"), (.delete, "delete"), (.revoke, "revoke"), (.funlock, "funlock"),
  ]

  /// "write, extend".
  var words: String {
    Self.names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
  }
}
