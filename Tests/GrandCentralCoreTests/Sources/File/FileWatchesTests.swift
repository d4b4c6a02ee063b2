// The hub of file system sources. A test holds its lock, and so controls the kernel's queue.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("Watched files") struct FileWatchesTests {
  private let folder = ScratchFolder()
  private let files = FileWatches(
    poller: Reactor.shared.poller, descriptors: Reactor.shared.descriptors)

  private func listen(_ descriptor: Int32, _ wanted: FileEvents) -> Listener {
    let listener = Listener(descriptor, wanted)
    files.join(listener.entry, on: currentThread())
    return listener
  }

  @Test func `share one watch, which ends with the last`() {
    let file = folder.file("file")
    let other = dup(file)
    let listeners = [listen(file, .write), listen(other, .attrib), listen(file, .delete)]
    #expect(files.count == 1)
    for listener in listeners {
      #expect(files.count == 1)
      files.leave(listener.entry)
      files.leave(listener.entry)
    }
    #expect(files.count == 0)
    close(file)
    close(other)
  }

  @Test func `have their parents watched while a source waits for a directory's end`() {
    let place = folder.folder("place")
    let inner = folder.folder("place/inner")
    let writes = listen(place, .write)
    #expect(files.count == 1)
    let end = listen(place, .delete)
    #expect(files.count == 2)
    let innerEnd = listen(inner, [.delete])
    #expect(files.count == 3)
    files.leave(end.entry)
    #expect(files.count == 2)
    files.leave(writes.entry)
    // The parent is still watched for the other directory.
    #expect(files.count == 2)
    files.leave(innerEnd.entry)
    #expect(files.count == 0)
    close(place)
    close(inner)
  }

  @Test func `are watched for all that a source has wanted until the last one leaves`() {
    let file = folder.file("file")
    let kept = listen(file, .delete)
    let gone = listen(file, [.write, .attrib])
    files.leave(gone.entry)
    // Asking for less would lose events of the source that is left.
    let asked = files.lock.withLock { files.watches.values.first?.asked }
    #expect(asked?.contains([.modified, .attributes]) == true)
    writeBytes(file, 1)
    unlink(folder["file"])
    #expect(kept.hears(.delete))
    #expect(kept.heard == .delete)
    files.leave(kept.entry)
    #expect(files.count == 0)
    close(file)
  }

  @Test func `lost by an overflowing queue are all notified, and reported on request`() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      wantAllReports()
      let folder = ScratchFolder()
      let files = Watchers.shared.files
      let place = folder.folder("place")
      let doomed = folder.folder("doomed")
      let all: [Listener] = [
        Listener(place, [.write, .revoke]), Listener(folder.file("quiet"), [.rename, .attrib]),
        Listener(folder.file("gone"), .delete), Listener(folder.file("kept"), .delete),
        Listener(doomed, .delete),
      ]
      for listener in all { files.join(listener.entry, on: currentThread()) }
      let most = Int(
        (contents(of: "/proc/sys/fs/inotify/max_queued_events") ?? "").prefix { $0 != "\n" })
      files.lock.withLock {
        // No thread reads events meanwhile.
        for _ in 0...(most ?? 16384) / 2 {
          close(folder.file("place/file"))
          unlink(folder["place/file"])
        }
        rename(folder["quiet"], folder["moved"])
        unlink(folder["gone"])
        rmdir(folder["doomed"])
      }
      guard all[0].hears(.write), all[1].hears([.rename, .attrib]), all[2].hears(.delete),
        all[4].hears(.delete)
      else { exit(1) }
      if !all[3].heard.isEmpty || all[0].heard.contains(.revoke) { exit(2) }
      // The sources still work afterwards.
      rename(folder["kept"], folder["doomed"])
      unlink(folder["doomed"])
      exit(all[3].hears(.delete) ? 0 : 3)
    }
    let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(errors.contains("max_queued_events") && errors.contains("IN_Q_OVERFLOW"), "\(errors)")
  }

  @Test func `that were left drop the events in flight, by number`() {
    let file = folder.file("file")
    let kept = folder.file("kept")
    let remaining = listen(kept, .write)
    for _ in 0..<1000 {
      let listener = listen(file, [.write, .attrib])
      files.lock.withLock {
        writeBytes(file, 1)
        fchmod(file, 0o600)
      }
      files.leave(listener.entry)
      let late = listen(file, .attrib)
      files.leave(late.entry)
      #expect(late.heard.isEmpty)
    }
    writeBytes(kept, 1)
    #expect(remaining.hears(.write))
    files.leave(remaining.entry)
    #expect(files.count == 0)
    close(file)
    close(kept)
  }

  @Test func `that cannot be watched for want of permission are reported`() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      let folder = ScratchFolder()
      let file = folder.file("secret", O_WRONLY)
      fchmod(file, 0o200)
      if geteuid() == 0 { guard seteuid(65534) == 0 else { exit(1) } }
      let listener = Listener(file, .write)
      Watchers.shared.files.join(listener.entry, on: currentThread())
      let isOver = listener.entry.state == .over
      _ = seteuid(0)
      exit(isOver ? 0 : 2)
    }
    let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(errors.contains("errno 13") && errors.contains("permission"), "\(errors)")
  }

  @Test func `that may be refused are not reported and not retried`() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      wantAllReports()
      let file = ScratchFolder().file("file")
      let files = FileWatches(
        poller: Reactor.shared.poller, descriptors: Reactor.shared.descriptors)
      guard files.poller.prepare() >= 0 else { exit(1) }
      let listener = Listener(file, .write, mayBeRefused: true)
      // The system refuses the instance, so there is no watch.
      under(.noDescriptors) { files.join(listener.entry, on: currentThread()) }
      exit(listener.entry.state == .over && files.lacking.isEmpty ? 0 : 2)
    }
    let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(!errors.contains("GRAND CENTRAL"), "\(errors)")
  }
}

private final class Listener: FileListener, @unchecked Sendable {
  let entry: FileEntry
  private let log = Log<FileEvents>()

  init(_ descriptor: Int32, _ wanted: FileEvents, mayBeRefused: Bool = false) {
    entry = FileEntry(descriptor, wanted: wanted, mayBeRefused: mayBeRefused)
    entry.listener = self
  }

  func fileHasChanged(_ events: FileEvents, on thread: ThreadContext) { log.append(events) }
  var listenerDescription: String { "listener" }
  var heard: FileEvents { log.all.reduce(into: []) { $0.formUnion($1) } }

  func hears(_ events: FileEvents) -> Bool {
    eventually { heard.isSuperset(of: events) }
  }
}
