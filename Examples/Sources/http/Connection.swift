// One client: its requests, one after the other, and their answers.

import Glibc
import GrandCentral

struct Connection: Sendable {
  let channel: DispatchIO
  let limits: Limits
  let handler: Handler
  let answers: Answers

  /// Serves requests until the client leaves, makes a mistake or waits too long. When the server
  /// stops, it cancels this task: an answer that has begun is finished, and no request follows.
  func serve() async {
    var reader = ByteReader(channel)
    while !Task.isCancelled {
      let request: Request
      do {
        guard let (next, rest) = try await read(with: reader) else { return }
        (request, reader) = (next, rest)
      } catch let refusal as Refusal {
        return await refuse(refusal)
      } catch is TimedOut {
        return await refuse(Refusal(status: 408, why: "The request took too long."))
      } catch {
        // The client has left, or the server stops.
        return
      }
      // An answer that fails is cut off: the client sees that its end is missing.
      guard (try? await answer(request)) == true else { return }
    }
  }

  /// Returns the next request, and the reader behind it; `nil` if the client has left.
  private func read(with reader: ByteReader) async throws -> (Request, ByteReader)? {
    try await withTimeout(limits.request) { [limits] in
      var reader = reader
      guard let request = try await reader.request(limits) else { return nil }
      return (request, reader)
    }
  }

  /// Answers in a task of its own, which is not cancelled with the connection's. Returns whether
  /// another request may follow.
  private func answer(_ request: Request) async throws -> Bool {
    try await answers.run { [self] in
      let response = await handler(request)
      let isStopping = await answers.isStopping
      let mayContinue = request.keepsAlive && !isStopping
      let hasBody = request.method != "HEAD"
      switch response.body {
      case .bytes(let bytes):
        let head = response.head(
          framing: "Content-Length: \(bytes.count)", keepsAlive: mayContinue)
        try await send(Array(head.utf8) + (hasBody ? bytes : []))
        return mayContinue
      case .stream(let write):
        let keepsAlive = mayContinue && request.takesChunks
        let head = response.head(
          framing: request.takesChunks ? "Transfer-Encoding: chunked" : nil, keepsAlive: keepsAlive)
        try await send(Array(head.utf8))
        guard hasBody else { return keepsAlive }
        let writer = BodyWriter(
          channel: channel, limit: limits.answer, isChunked: request.takesChunks)
        try await write(writer)
        try await writer.end()
        return keepsAlive
      }
    }
  }

  private func refuse(_ refusal: Refusal) async {
    let body = Array((refusal.why + "\n").utf8)
    let head = Response(status: refusal.status, refusal.why).head(
      framing: "Content-Length: \(body.count)", keepsAlive: false)
    try? await answers.run { [self] in try await send(Array(head.utf8) + body) }
  }

  private func send(_ bytes: [UInt8]) async throws {
    let (channel, limit) = (channel, limits.answer)
    try await withTimeout(limit) { try await channel.write(DispatchData(copying: bytes)) }
  }
}
