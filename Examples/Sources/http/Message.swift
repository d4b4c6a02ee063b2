// Requests and responses, and the errors that become a response.

import GrandCentral

struct Request: Sendable {
  var method: String
  /// The path with the query, such as "/echo".
  var target: String
  /// Whether the connection may serve another request.
  var keepsAlive: Bool
  /// Whether the client understands a body in chunks.
  var takesChunks: Bool
  /// By name, in lower case.
  var fields: [String: String]
  var body: [UInt8] = []
}

struct Response: Sendable {
  enum Body: Sendable {
    case bytes([UInt8])
    /// The closure writes the body piece by piece. An error that it throws cuts the answer off.
    case stream(@Sendable (BodyWriter) async throws -> Void)
  }

  var status = 200
  var body: Body

  init(status: Int = 200, _ text: String) {
    self.status = status
    body = .bytes(Array(text.utf8))
  }

  init(body: [UInt8]) { self.body = .bytes(body) }

  /// An answer whose length is not known before: it is sent while it is made.
  init(stream: @escaping @Sendable (BodyWriter) async throws -> Void) {
    body = .stream(stream)
  }

  /// The lines before the body. `framing` is the field that says where the body ends, if any does.
  func head(framing: String?, keepsAlive: Bool) -> String {
    """
    HTTP/1.1 \(status) \(Self.reasons[status] ?? "Status")\r
    \(framing.map { $0 + "\r\n" } ?? "")Content-Type: text/plain; charset=utf-8\r
    Connection: \(keepsAlive ? "keep-alive" : "close")\r
    \r

    """
  }

  private static let reasons = [
    200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed",
    408: "Request Timeout", 413: "Content Too Large", 431: "Request Header Fields Too Large",
    501: "Not Implemented", 505: "HTTP Version Not Supported",
  ]
}

/// Writes the body of one answer. Each write suspends until the connection has taken the bytes, so
/// a slow client holds the handler back, and nothing is kept in memory for it.
struct BodyWriter: Sendable {
  let channel: DispatchIO
  /// For the client to take one piece.
  let limit: Duration
  /// Whether each piece is preceded by its size; otherwise the end of the connection ends the body.
  let isChunked: Bool

  func write(_ text: String) async throws { try await write(Array(text.utf8)) }

  func write(_ bytes: [UInt8]) async throws {
    // An empty chunk would end the body.
    if bytes.isEmpty { return }
    var piece = DispatchData.empty
    if isChunked { piece.append(DispatchData(copying: "\(String(bytes.count, radix: 16))\r\n")) }
    piece.append(DispatchData(copying: bytes))
    if isChunked { piece.append(DispatchData(copying: "\r\n")) }
    try await send(piece)
  }

  /// Ends the body, after the last write.
  func end() async throws {
    if isChunked { try await send(DispatchData(copying: "0\r\n\r\n")) }
  }

  private func send(_ data: DispatchData) async throws {
    try await withTimeout(limit) { [channel] in try await channel.write(data) }
  }
}

/// A request that the server refuses: it answers with the status, and closes the connection.
struct Refusal: Error {
  let status: Int
  let why: String

  static func bad(_ why: String) -> Refusal { Refusal(status: 400, why: why) }
}

/// What a client may ask of the server's memory and time.
struct Limits: Sendable {
  var headBytes = 16_384
  var bodyBytes = 1 << 20
  /// From the wait for a request to its last byte.
  var request = Duration.seconds(30)
  /// For the client to take the answer, or one piece of it if it is sent while it is made.
  var answer = Duration.seconds(30)
}
