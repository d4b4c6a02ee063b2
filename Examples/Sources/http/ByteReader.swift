// Lines and blocks of bytes from a channel. It reads on demand, and what was read beyond a request
// stays in `bytes` for the next one.

import GrandCentral

struct ByteReader: Sendable {
  let channel: DispatchIO
  private(set) var bytes: [UInt8] = []

  init(_ channel: DispatchIO) { self.channel = channel }

  /// Reads a line, without its end. Returns `nil` if the stream ends before the first byte.
  /// - Parameter budget: how many bytes may still come; the line's bytes are taken from it.
  mutating func line(budget: inout Int) async throws -> String? {
    var searched = 0
    while true {
      if let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        budget -= end + 1
        if budget < 0 { break }
        guard end > 0, bytes[end - 1] == UInt8(ascii: "\r") else {
          throw Refusal.bad("A line must end with CR LF.")
        }
        let line = bytes[..<(end - 1)]
        guard line.allSatisfy({ $0 == 9 || $0 >= 32 && $0 != 127 }) else {
          throw Refusal.bad("The head contains a control character.")
        }
        defer { bytes.removeSubrange(...end) }
        return String(decoding: line, as: UTF8.self)
      }
      searched = bytes.count
      if searched > budget { break }
      if try await !readMore() {
        if bytes.isEmpty { return nil }
        throw Refusal.bad("The request ends in the middle of a line.")
      }
    }
    throw Refusal(status: 431, why: "The head is too long.")
  }

  /// Reads exactly `count` bytes.
  mutating func take(_ count: Int) async throws -> ArraySlice<UInt8> {
    while bytes.count < count {
      if try await !readMore() { throw Refusal.bad("The body is shorter than it says.") }
    }
    defer { bytes.removeSubrange(..<count) }
    return bytes[..<count]
  }

  /// Returns false at the end of the stream.
  private mutating func readMore() async throws -> Bool {
    let chunk = try await channel.read()
    chunk.forEachRegion { span in span.withUnsafeBytes { bytes.append(contentsOf: $0) } }
    return !chunk.isEmpty
  }
}
