// One client: its requests, one after the other, and their answers.

import Glibc
import GrandCentral

struct Connection: Sendable {
  let channel: DispatchIO
  let limits: Limits
  let handler: Handler

  /// Serves requests until the client leaves, makes a mistake or waits too long. When the server
  /// stops, it cancels this task: an answer that has begun is finished, and no request follows.
  func serve() async {
    var reader = ByteReader(channel)
    var keepsAlive = true
    while keepsAlive && !Task.isCancelled {
      do {
        let limits = limits
        let (request, rest) = try await withTimeout(limits.request) { [reader] in
          var reader = reader
          return (try await reader.request(limits), reader)
        }
        guard let request else { return }
        reader = rest
        keepsAlive = try await answer(request)
      } catch let refusal as Refusal {
        keepsAlive = false
        await refuse(refusal)
      } catch is TimedOut {
        keepsAlive = false
        await refuse(Refusal(status: 408, why: "The request took too long."))
      } catch {
        // The client has left, or the server stops.
        return
      }
    }
  }

  /// Answers in a task of its own, which is not cancelled with the connection's.
  private func answer(_ request: Request) async throws -> Bool {
    let response = await Task { await handler(request) }.value
    let keepsAlive = request.keepsAlive && !Task.isCancelled
    let bytes = response.bytes(keepsAlive: keepsAlive, withBody: request.method != "HEAD")
    try await send(bytes)
    return keepsAlive
  }

  private func refuse(_ refusal: Refusal) async {
    let response = Response(status: refusal.status, refusal.why + "\n")
    try? await send(response.bytes(keepsAlive: false))
  }

  private func send(_ bytes: [UInt8]) async throws {
    let (channel, limit) = (channel, limits.answer)
    try await Task {
      try await withTimeout(limit) { try await channel.write(DispatchData(copying: bytes)) }
    }.value
  }
}
