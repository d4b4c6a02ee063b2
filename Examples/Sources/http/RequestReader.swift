// The syntax of requests: RFC 9112. What it does not understand exactly, it refuses: a server that
// guesses where a body ends can be made to answer a request that its client never sent.

import GrandCentral

extension ByteReader {
  /// Reads a request. Returns `nil` if the client has left before its first byte.
  mutating func request(_ limits: Limits) async throws -> Request? {
    var budget = limits.headBytes
    guard let first = try await line(budget: &budget) else { return nil }
    var request = try Self.requestLine(first)
    request.fields = try await fields(budget: &budget)
    if request.fields["host"] == nil && request.keepsAlive { throw Refusal.bad("Host is missing.") }
    if let connection = request.fields["connection"]?.lowercased() {
      if connection.contains("close") { request.keepsAlive = false }
    }
    request.body = try await body(of: request, limits)
    return request
  }

  private static func requestLine(_ line: String) throws -> Request {
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words.allSatisfy({ !$0.isEmpty }) else {
      throw Refusal.bad("The first line must be: method, target, version.")
    }
    guard words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else {
      throw words[2].hasPrefix("HTTP/")
        ? Refusal(status: 505, why: "The server speaks HTTP/1.1.") : Refusal.bad("No version.")
    }
    // A client of version 1.0 gets one answer for each connection.
    let isRecent = words[2] == "HTTP/1.1"
    return Request(
      method: String(words[0]), target: String(words[1]), keepsAlive: isRecent,
      takesChunks: isRecent, fields: [:])
  }

  /// Reads `name: value` lines up to the empty line.
  mutating func fields(budget: inout Int) async throws -> [String: String] {
    var fields: [String: String] = [:]
    while let line = try await line(budget: &budget), !line.isEmpty {
      guard let colon = line.firstIndex(of: ":"), colon > line.startIndex,
        !line[..<colon].contains(where: { $0 == " " || $0 == "\t" })
      else { throw Refusal.bad("A field must be: name, colon, value.") }
      let name = line[..<colon].lowercased()
      let value = line[line.index(after: colon)...].trimmed
      if let earlier = fields[name] {
        // These decide where the request ends and which host it is for. There is one of each.
        if ["content-length", "transfer-encoding", "host"].contains(name) {
          throw Refusal.bad("\(name) is given twice.")
        }
        fields[name] = earlier + ", " + value
      } else {
        fields[name] = value
      }
    }
    return fields
  }

  private mutating func body(of request: Request, _ limits: Limits) async throws -> [UInt8] {
    let tooLong = Refusal(status: 413, why: "The body is above \(limits.bodyBytes) bytes.")
    let length = request.fields["content-length"]
    let encoding = request.fields["transfer-encoding"]
    if length != nil && encoding != nil { throw Refusal.bad("The body has two lengths.") }
    if let encoding {
      guard encoding.lowercased() == "chunked" else {
        throw Refusal(status: 501, why: "The only transfer encoding is 'chunked'.")
      }
      try await confirm(request)
      return try await chunks(limits, tooLong)
    }
    guard let length else { return [] }
    guard length.utf8.allSatisfy({ (48...57).contains($0) }), !length.isEmpty else {
      throw Refusal.bad("Content-Length must be a number.")
    }
    guard let count = Int(length), count <= limits.bodyBytes else { throw tooLong }
    try await confirm(request)
    return Array(try await take(count))
  }

  /// Tells a client that waits with its body to send it.
  private func confirm(_ request: Request) async throws {
    guard request.fields["expect"]?.lowercased() == "100-continue" else { return }
    try await channel.write(DispatchData(copying: "HTTP/1.1 100 Continue\r\n\r\n"))
  }

  /// Reads chunks: the size in hexadecimal digits, the bytes, an empty line; up to the size 0.
  mutating func chunks(_ limits: Limits, _ tooLong: Refusal) async throws -> [UInt8] {
    var body: [UInt8] = []
    while true {
      var budget = 1_024
      guard let line = try await line(budget: &budget) else {
        throw Refusal.bad("The body has no last chunk.")
      }
      let digits = line.prefix { $0 != ";" }.trimmed
      guard (1...8).contains(digits.utf8.count), digits.allSatisfy(\.isHexDigit),
        let count = Int(digits, radix: 16)
      else { throw Refusal.bad("A chunk must begin with its size.") }
      if count == 0 { break }
      if count > limits.bodyBytes - body.count { throw tooLong }
      body += try await take(count)
      if try await take(2) != [13, 10] { throw Refusal.bad("A chunk is longer than its size.") }
    }
    var budget = limits.headBytes
    _ = try await fields(budget: &budget)
    return body
  }
}

extension StringProtocol {
  /// The text without spaces and tabs around it.
  fileprivate var trimmed: String {
    let isBlank = { (character: Character) in character == " " || character == "\t" }
    let start = self.drop(while: isBlank)
    let count = start.reversed().drop(while: isBlank).count
    return String(start.prefix(count))
  }
}

extension DispatchData {
  init(copying text: String) { self.init(copying: Array(text.utf8)) }

  init(copying bytes: [UInt8]) {
    self = bytes.withUnsafeBytes { DispatchData(copying: $0.bytes) }
  }
}
