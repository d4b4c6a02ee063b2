// A load generator: connections that send requests one after the other, and check each answer.

import Glibc
import GrandCentral

enum Load {
  /// Returns the number of right answers.
  static func run(port: UInt16, connections: Int, requests: Int) async -> Int {
    await withTaskGroup(of: Int.self) { group in
      for number in 0..<connections {
        group.addTask { await send(requests, from: number, to: port) }
      }
      return await group.reduce(0, +)
    }
  }

  private static func send(_ requests: Int, from number: Int, to port: UInt16) async -> Int {
    guard let descriptor = LoopbackSocket.connected(to: port) else { return 0 }
    defer { close(descriptor) }
    return await withChannel(fileDescriptor: descriptor) { channel in
      var reader = ByteReader(channel)
      for request in 0..<requests {
        // Of three requests one has a body in chunks, and one an answer in chunks.
        let body = "request \(request) of connection \(number)"
        let isRight: Bool
        do {
          switch request % 3 {
          case 0: isRight = try await echo(body, inChunks: false, channel, &reader)
          case 1: isRight = try await echo(body, inChunks: true, channel, &reader)
          default: isRight = try await lines(request * 7 % 1_000, channel, &reader)
          }
        } catch { return request }
        if !isRight { return request }
      }
      return requests
    }
  }

  private static func echo(
    _ body: String, inChunks: Bool, _ channel: DispatchIO, _ reader: inout ByteReader
  ) async throws -> Bool {
    let head = "POST /echo HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    let size = String(body.utf8.count, radix: inChunks ? 16 : 10)
    let rest =
      inChunks
      ? "Transfer-Encoding: chunked\r\n\r\n\(size)\r\n\(body)\r\n0\r\n\r\n"
      : "Content-Length: \(size)\r\n\r\n\(body)"
    try await channel.write(DispatchData(copying: head + rest))
    var budget = 16_384
    guard try await reader.line(budget: &budget) == "HTTP/1.1 200 OK" else { return false }
    while let line = try await reader.line(budget: &budget), !line.isEmpty {}
    return try await reader.take(body.utf8.count).elementsEqual(body.utf8)
  }

  /// Asks for numbered lines, which come in chunks.
  private static func lines(
    _ count: Int, _ channel: DispatchIO, _ reader: inout ByteReader
  ) async throws -> Bool {
    try await channel.write(
      DispatchData(copying: "GET /lines/\(count) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"))
    var budget = 16_384
    guard try await reader.line(budget: &budget) == "HTTP/1.1 200 OK",
      try await reader.fields(budget: &budget)["transfer-encoding"] == "chunked"
    else { return false }
    let body = try await reader.chunks(
      Limits(), Refusal(status: 413, why: "The answer is too long."))
    let expected = (0..<count).map { "line \($0 + 1)\n" }.joined()
    return body.elementsEqual(expected.utf8)
  }
}
