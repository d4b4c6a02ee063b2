// Prints what is appended to a log, as `tail -F` does: also after the log was replaced by a new
// one.
//
//   swift run -c release --package-path Examples follow FILE      Ctrl-C ends it
//
// A file system source tells when the file grows, and another when a file of the folder appears or
// is renamed. No thread waits: between two events the process sleeps. All state belongs to one
// serial queue, the target of both sources, so it needs no lock.

import Glibc
import GrandCentral

@main struct Follow {
  static func main() {
    guard CommandLine.arguments.count == 2 else {
      complain("usage: follow FILE")
      exit(2)
    }
    let follower = Follower(CommandLine.arguments[1])
    var sources: [any DispatchSourceSignal] = []
    for number in [SIGINT, SIGTERM] {
      // The default action would end the process before the source sees the signal.
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
      source.setEventHandler { exit(follower.stop() ? 0 : 1) }
      source.activate()
      sources.append(source)
    }
    follower.start()
    dispatchMain()
  }
}

/// Follows one path.
// SAFETY: the queue guards all variables.
final class Follower: @unchecked Sendable {
  private let queue = DispatchQueue(label: "follow")
  private let path: String
  private var folder: (any DispatchSourceFileSystemObject)?
  private var file: (any DispatchSourceFileSystemObject)?
  private var descriptor: Int32 = -1
  private var identity: ino_t = 0
  private var rest: [UInt8] = []
  private var lines = 0

  init(_ path: String) { self.path = path }

  func start() {
    queue.sync {
      let end = path.lastIndex(of: "/")
      let parent = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
      let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard descriptor >= 0 else {
        complain("cannot open '\(parent)': \(String(cString: strerror(errno)))")
        exit(1)
      }
      let source = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: descriptor, eventMask: .write, queue: queue)
      source.setEventHandler { [self] in takeNewFile() }
      source.setCancelHandler { close(descriptor) }
      // What was there before the source watched has had no event.
      source.setRegistrationHandler { [self] in
        takeNewFile()
        complain("following '\(path)'")
      }
      source.activate()
      folder = source
    }
  }

  /// Prints what has come until now. Returns false if no file was ever there.
  func stop() -> Bool {
    queue.sync {
      readMore()
      if !rest.isEmpty { printLine(rest) }
      file?.cancel()
      folder?.cancel()
      complain("\(lines) lines")
      return identity != 0
    }
  }

  /// Opens the file at the path, if it is another than the one that is read.
  private func takeNewFile() {
    var status = stat()
    guard stat(path, &status) == 0, status.st_ino != identity else { return }
    let opened = open(path, O_RDONLY | O_CLOEXEC)
    guard opened >= 0 else { return }
    // The last lines of the file before, which writers may have added after it was renamed.
    readMore()
    file?.cancel()
    (descriptor, identity) = (opened, status.st_ino)
    let source = DispatchSource.makeFileSystemObjectSource(
      fileDescriptor: opened, eventMask: [.extend, .write], queue: queue)
    source.setEventHandler { [self] in readMore() }
    source.setCancelHandler { close(opened) }
    source.setRegistrationHandler { [self] in readMore() }
    source.activate()
    file = source
  }

  private func readMore() {
    guard descriptor >= 0 else { return }
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count <= 0 { break }
      rest += buffer[..<count]
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        printLine(rest[..<end])
        rest.removeSubrange(...end)
      }
    }
    fflush(nil)
  }

  private func printLine(_ bytes: some Collection<UInt8>) {
    lines += 1
    print(String(decoding: bytes, as: UTF8.self))
  }
}

/// Prints a line on standard error.
func complain(_ text: String) {
  let bytes = Array("follow: \(text)\n".utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}
