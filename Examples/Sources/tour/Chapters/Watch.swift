// Chapter 3: a folder that is watched. The kernel reports changes to a file system source, so
// nothing polls, and an idle program uses no processor time.

import Glibc
import GrandCentral

/// Reports the names that appear in a folder and disappear from it, until it is cancelled.
final class FolderWatch: Sendable {
  private let source: any DispatchSourceFileSystemObject

  /// - Parameter whenChanged: called after each change; and at first, when watching has begun.
  init(
    _ folder: String, whenChanged: @escaping (_ names: Set<String>, _ before: Set<String>) -> Void
  ) throws(Failure) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system("watch '\(folder)'", Failure.readable) }
    source = DispatchSource.makeFileSystemObjectSource(
      fileDescriptor: descriptor, eventMask: .write, queue: DispatchQueue(label: "watch"))
    // Only handlers of the source use it, and a source runs one handler at a time.
    var known: Set<String> = []
    // The event says that the folder has changed, perhaps several times: so look what is new.
    let look = {
      guard let listing = try? Listing(of: folder) else { return }
      let names = Set(listing.files.map { String($0.dropFirst(folder.count + 1)) })
      whenChanged(names, known)
      known = names
    }
    source.setRegistrationHandler(handler: look)
    source.setEventHandler(handler: look)
    source.setCancelHandler { close(descriptor) }
    source.activate()
  }

  func cancel() { source.cancel() }
}

extension Chapter {
  static let watch = Chapter(
    name: "watch", summary: "a folder in which another program changes files"
  ) { tour in
    let folder = tour.scratch + "/watched"
    mkdir(folder, 0o700)
    let view = Guarded<Set<String>>(["not seen yet"], label: "watch.view")
    let hasChanged = DispatchSemaphore(value: 0)
    let watch = try FolderWatch(folder) { names, before in
      for name in names.subtracting(before).sorted() { tour.say("  new:  \(name)") }
      for name in before.subtracting(names).sorted() { tour.say("  gone: \(name)") }
      view.sync { $0 = names }
      hasChanged.signal()
    }
    defer { watch.cancel() }

    func sees(_ expected: Set<String>) -> Bool {
      while view.sync({ $0 }) != expected {
        if hasChanged.wait(timeout: .now() + .seconds(60)) == .timedOut { return false }
      }
      return true
    }
    var isRight = sees([])
    for (command, expected) in [
      ("touch draft", ["draft"]), ("mv draft letter", ["letter"]),
      ("cp letter copy", ["letter", "copy"]), ("rm letter copy", []),
    ] as [(String, Set<String>)] where isRight {
      tour.say("$ \(command)")
      _ = try Program.run("sh", "-c", "cd \"$0\" && \(command)", folder)
      isRight = sees(expected)
    }
    tour.check(
      isRight, "the watch has seen the result of every command",
      "it sees \(view.sync { $0.sorted() }). Set TMPDIR to a folder on a local disk.")
  }
}
