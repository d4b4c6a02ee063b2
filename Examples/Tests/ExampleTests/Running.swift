// A program of this package in a process of its own, and folders for its files.
import Foundation
import Testing

/// A folder that is removed with its last reference.
final class Folder: Sendable {
  let url: URL
  var path: String { url.path }

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("example-\(UUID())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  subscript(name: String) -> String { url.appendingPathComponent(name).path }

  func write(_ name: String, _ data: Data) throws {
    let file = url.appendingPathComponent(name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: file)
  }

  func write(_ name: String, _ text: String) throws { try write(name, Data(text.utf8)) }

  /// Adds to a file as a program does that writes a log.
  func append(_ name: String, _ text: String) throws {
    let file = try FileHandle(forWritingTo: url.appendingPathComponent(name))
    try file.seekToEnd()
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
  }
}

/// A program that runs. Its output is read line by line.
final class Running {
  private let process = Process()
  private let output = Pipe()
  private let errors = Pipe()
  private var unread: [Pipe: Data] = [:]

  init(_ name: String, _ arguments: [String]) throws {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    process.executableURL =
      URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent(name)
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = errors
    // The toolchain's workers, on which tests run, block most signals, and a child inherits that.
    var none = sigset_t()
    var blocked = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &blocked)
    defer { pthread_sigmask(SIG_SETMASK, &blocked, nil) }
    try process.run()
  }

  /// Returns the next line of its standard output; `nil` at the end.
  func line() -> String? { line(of: output) }
  /// Returns the next line of its standard error; `nil` at the end.
  func errorLine() -> String? { line(of: errors) }

  private func line(of pipe: Pipe) -> String? {
    var data = unread[pipe] ?? Data()
    while true {
      if let end = data.firstIndex(of: 10) {
        defer { unread[pipe] = Data(data[(end + 1)...]) }
        return String(decoding: data[..<end], as: UTF8.self)
      }
      let more = pipe.fileHandleForReading.availableData
      if more.isEmpty { return nil }
      data.append(more)
    }
  }

  func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  /// Waits for its end. Returns its status, and the lines that were not read.
  func end() -> (status: Int32, lines: [String], errorLines: [String]) {
    var (lines, errorLines): ([String], [String]) = ([], [])
    while let next = line() { lines.append(next) }
    while let next = errorLine() { errorLines.append(next) }
    process.waitUntilExit()
    return (process.terminationStatus, lines, errorLines)
  }
}
