// Requests and responses, and the errors that become a response.

import GrandCentral

struct Request: Sendable {
  var method: String
  /// The path with the query, such as "/echo".
  var target: String
  /// Whether the connection may serve another request.
  var keepsAlive: Bool
  /// By name, in lower case.
  var fields: [String: String]
  var body: [UInt8] = []
}

struct Response: Sendable {
  var status = 200
  var body: [UInt8] = []

  init(status: Int = 200, _ text: String) {
    self.status = status
    body = Array(text.utf8)
  }

  init(body: [UInt8]) { self.body = body }

  /// The bytes for the connection. The answer to HEAD has no body, but states its length.
  func bytes(keepsAlive: Bool, withBody: Bool = true) -> [UInt8] {
    let head = """
      HTTP/1.1 \(status) \(Self.reasons[status] ?? "Status")\r
      Content-Length: \(body.count)\r
      Content-Type: text/plain; charset=utf-8\r
      Connection: \(keepsAlive ? "keep-alive" : "close")\r
      \r

      """
    return Array(head.utf8) + (withBody ? body : [])
  }

  private static let reasons = [
    200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed",
    408: "Request Timeout", 413: "Content Too Large", 431: "Request Header Fields Too Large",
    501: "Not Implemented", 505: "HTTP Version Not Supported",
  ]
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
  /// For the client to take the answer.
  var answer = Duration.seconds(30)
}
