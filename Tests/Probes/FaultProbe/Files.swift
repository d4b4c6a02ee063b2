import CFaults
import Glibc
import GrandCentral
import TestSupport

/// Files cannot be watched at first, because descriptors or watches are refused.
func filesRefused(_ words: [String]) {
  let folder = ScratchFolder()
  let file = Watched(folder.file("file"))
  let place = Watched(folder.folder("place"))
  let doomed = Watched(folder.folder("doomed"))
  let change = {
    writeBytes(file.descriptor, 1)
    close(folder.file("place/new"))
    rmdir(folder["doomed"])
  }
  switch words.first {
  case "descriptors":
    check(faults_limit(FAULTS_DESCRIPTORS, 0) == 0, "the limit holds")
    for watched in [file, place, doomed] { check(watched.starts(), "the source begins") }
    // Creating the folder's new file needs a descriptor too, so it is done later.
    writeBytes(file.descriptor, 1)
    rmdir(folder["doomed"])
    check(faults_limit(FAULTS_DESCRIPTORS, -1) == 0, "the limit is lifted")
    close(folder.file("place/new"))
  default:
    if !limitWatches(0) { skip("/proc/sys/user/max_inotify_watches cannot be written") }
    for watched in [file, place] { check(watched.starts(), "the source begins") }
    // The source that is watched first has no watch on its parent.
    check(doomed.starts(), "the source begins")
    check(limitWatches(3), "three watches are allowed")
    change()
    check(limitWatches(1000), "the limit is lifted")
  }
  check(file.log.hears([.write, .extend]), "the file's change is reported")
  check(place.log.hears(.write), "the folder's change is reported")
  check(doomed.log.hears(.delete), "the other folder's end is reported")
  for watched in [file, place, doomed] { check(watched.ends(), "the source ends") }
}

/// Sets the limit of this user namespace: namespaces(7).
private func limitWatches(_ count: Int) -> Bool {
  let limit = open("/proc/sys/user/max_inotify_watches", O_WRONLY | O_CLOEXEC)
  if limit < 0 { return false }
  defer { close(limit) }
  let text = Array("\(count)\n".utf8)
  return write(limit, text, text.count) == text.count
}

/// A source with the events that it received.
private final class Watched: Sendable {
  let descriptor: Int32
  let log = Log<DispatchSource.FileSystemEvent>()
  private let source: any DispatchSourceFileSystemObject
  private let ended = Latch()

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    source = DispatchSource.makeFileSystemObjectSource(fileDescriptor: descriptor, eventMask: .all)
  }

  /// Activates the source. Returns whether it is registered.
  func starts() -> Bool {
    let begun = Latch()
    let (log, source, ended) = (log, source, ended)
    source.setRegistrationHandler { begun.open() }
    source.setEventHandler { log.append(source.data) }
    source.setCancelHandler { ended.open() }
    source.activate()
    return begun.wait()
  }

  func ends() -> Bool {
    source.cancel()
    return ended.wait()
  }
}

extension Log<DispatchSource.FileSystemEvent> {
  /// Waits until all of `events` have been received.
  fileprivate func hears(_ events: DispatchSource.FileSystemEvent) -> Bool {
    eventually {
      let heard = all.reduce(into: DispatchSource.FileSystemEvent()) { $0.formUnion($1) }
      return heard.isSuperset(of: events)
    }
  }
}
