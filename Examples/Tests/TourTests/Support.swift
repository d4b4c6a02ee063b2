// What the tests share: a folder of generated files, and a tour in a process of its own.

import Glibc
import Testing

@testable import tour

/// A folder that is removed with its last reference.
final class MadeFolder: Sendable {
  let path: String

  init() throws { path = try absolutePath(makeTemporaryFolder()) }

  deinit { removeFolder(path) }

  @discardableResult
  func folder(_ name: String) -> String {
    mkdir("\(path)/\(name)", 0o700)
    return "\(path)/\(name)"
  }

  @discardableResult
  func file(_ name: String, _ bytes: [UInt8] = []) throws -> String {
    let file = "\(path)/\(name)"
    let descriptor = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    try #require(write(descriptor, bytes, bytes.count) == bytes.count)
    return file
  }

  /// Makes a sparse file, too long to be read to its end.
  func endlessFile() throws {
    try #require(truncate(try file("endless"), 1 << 38) == 0)
  }

  /// Makes a hundred files, with lengths around the size of a piece that is read at once.
  func fill() throws {
    for index in 0..<10 {
      folder("folder \(index)")
      folder("folder \(index)/deeper")
      for (step, length) in [0, 1, 300, 65_535, 65_536].enumerated() {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ index) }
        try file("folder \(index)/\(step)", bytes)
        try file("folder \(index)/deeper/\(step)", bytes.reversed())
      }
    }
    folder("empty")
    symlink("folder 1", "\(path)/link")
  }

  static let filledFiles = 100
}

/// How a tour ended, and what it printed.
struct TourEnd {
  let output: String
  let errors: String
  let ending: Program.Ending
}

/// A tour that runs in a process of its own. Its temporary files are in a folder of their own.
final class RunningTour {
  let temporary: MadeFolder
  private let folder: MadeFolder
  private let process: pid_t
  private let output: Int32
  private var seen: [UInt8] = []

  /// - Parameter programs: the folders in which the tour finds other programs; by default PATH.
  init(programs: String? = nil, _ arguments: String...) throws {
    folder = try MadeFolder()
    temporary = try MadeFolder()
    let own = try absolutePath("/proc/self/exe")
    let tour = String(own.prefix(through: try #require(own.lastIndex(of: "/"))) + "tour")
    // fifo(7): only the writer's open waits for a reader, and here the reader is first.
    let fifo = "\(folder.path)/output"
    try #require(mkfifo(fifo, 0o600) == 0)
    output = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    try #require(output >= 0)
    process = try Program.start(
      ["env", "TMPDIR=\(temporary.path)"] + (programs.map { ["PATH=\($0)"] } ?? []) + [tour]
        + arguments,
      output: fifo, errors: "\(folder.path)/errors")
    _ = fcntl(output, F_SETFL, 0)
  }

  deinit { close(output) }

  /// Reads until `text` has been printed. Returns false if the tour ends without it.
  func waitForOutput(_ text: String) -> Bool {
    while !String(decoding: seen, as: UTF8.self).contains(text) {
      if !readMore() { return false }
    }
    return true
  }

  func send(_ signal: Int32) { kill(process, signal) }

  func end() throws -> TourEnd {
    while readMore() {}
    let ending = Program.wait(for: process)
    return TourEnd(
      output: String(decoding: seen, as: UTF8.self), errors: try text(of: "\(folder.path)/errors"),
      ending: ending)
  }

  private func readMore() -> Bool {
    var piece = [UInt8](repeating: 0, count: 4096)
    let count = read(output, &piece, piece.count)
    seen += piece.prefix(max(0, count))
    return count > 0 || count < 0 && errno == EINTR
  }
}

func text(of file: String) throws -> String {
  var bytes: [UInt8] = []
  try readFile(file) { bytes += $0 }
  return String(decoding: bytes, as: UTF8.self)
}

func names(in folder: String) throws -> [String] {
  let listing = try Listing(of: folder)
  return listing.files + listing.folders
}
