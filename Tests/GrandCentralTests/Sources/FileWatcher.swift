// A source with a record of its events, for the tests of file system sources.
import Glibc
import GrandCentral
import TestSupport
import Testing

typealias FileSystemEvent = DispatchSource.FileSystemEvent

/// A source of one descriptor; its cancel handler closes the descriptor if requested.
final class FileWatcher: Sendable {
  let source: any DispatchSourceFileSystemObject
  let descriptor: Int32
  private let log: Log<FileSystemEvent>
  private let ended = Latch()

  /// Returns when the source watches its file.
  init(
    _ descriptor: Int32, _ mask: FileSystemEvent = .all, closes: Bool = true,
    queue: DispatchQueue? = nil
  ) {
    let source = DispatchSource.makeFileSystemObjectSource(
      fileDescriptor: descriptor, eventMask: mask, queue: queue)
    let log = Log<FileSystemEvent>()
    let begun = Latch()
    self.source = source
    self.descriptor = descriptor
    self.log = log
    let ended = ended
    source.setRegistrationHandler { begun.open() }
    source.setEventHandler { [unowned source = source as! DispatchSource] in
      log.append(FileSystemEvent(rawValue: source.data))
    }
    source.setCancelHandler {
      if closes { close(descriptor) }
      ended.open()
    }
    source.activate()
    _ = begun.wait()
  }

  /// The union of all events so far.
  var heard: FileSystemEvent { log.all.reduce(into: []) { $0.formUnion($1) } }
  var all: [FileSystemEvent] { log.all }

  /// Waits until all of `events` have been received.
  func hears(_ events: FileSystemEvent) -> Bool {
    var count = 0
    while !heard.isSuperset(of: events) {
      count = max(count, log.count)
      if heard.isSuperset(of: events) { return true }
      guard log.waitForCount(count + 1) else { return false }
    }
    return true
  }

  /// Cancels the source and waits for the cancel handler.
  func end() {
    source.cancel()
    #expect(ended.wait())
  }
}

/// Waits until the sources have received all changes made so far. The kernel keeps events in order,
/// so the event of a later change arrives after them.
func settleFiles(in folder: ScratchFolder) {
  let sentinel = FileWatcher(folder.file("sentinel"), .write)
  writeBytes(sentinel.descriptor, 1)
  #expect(sentinel.hears(.write))
  sentinel.end()
  settle()
}
