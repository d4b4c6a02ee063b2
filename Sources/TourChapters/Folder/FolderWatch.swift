// Purpose: watches files and folders under given names, prints each event as it arrives, and lets
// the chapter wait for the events that it expects.

import GrandCentral
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

typealias FileEvents = DispatchSource.FileSystemEvent

// SAFETY: every variable is only touched by items and handlers of `queue`.
final class FolderWatch: @unchecked Sendable {
  private let queue = DispatchQueue(label: "tour.folder")
  private let report: ChapterReport
  private let closing = DispatchGroup()
  private var sources: [String: any DispatchSourceFileSystemObject] = [:]
  /// The expected events that have not arrived yet, by name.
  private var wanted: [String: FileEvents] = [:]
  private var whenTold: DispatchSemaphore?
  private var stepStart = Machine.nanoseconds
  private(set) var eventCount = 0

  init(report: ChapterReport) {
    self.report = report
  }

  /// Watches the file that `path` names now. Watching has started when this returns. Returns false
  /// if the file cannot be opened.
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

  /// Starts a step. Events count for it until `settle` returns.
  func beginStep(expecting events: [String: FileEvents]) {
    queue.sync {
      wanted = events
      whenTold = DispatchSemaphore(value: 0)
      stepStart = Machine.nanoseconds
    }
  }

  /// Waits until all expected events have arrived. Returns the missing ones.
  func settle(seconds: Int = 10) -> [String: FileEvents] {
    let semaphore = queue.sync { whenTold }
    _ = semaphore?.wait(timeout: .now() + .seconds(seconds))
    return queue.sync { missing }
  }

  /// Cancels all sources and waits until their descriptors are closed.
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

  /// The names of the events: "write, extend".
  var words: String {
    Self.names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
  }
}
