// What the server has to offer.

import Glibc
import GrandCentral

/// Work of a queue, as a program has that grew up before `async`.
private let archive = DispatchQueue(label: "http.archive")

/// How many lines clients have taken, or the kernel for them.
private actor Written {
  private let queue = DispatchSerialQueue(label: "http.written")
  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
  private(set) var lines = 0
  func add(_ count: Int) { lines += count }
}

private let written = Written()

@Sendable func page(for request: Request) async -> Response {
  switch (request.method, request.target) {
  case ("GET", "/"), ("HEAD", "/"): return Response("Hello from a queue.\n")
  case ("POST", "/echo"): return Response(body: request.body)
  case ("POST", "/sum"):
    let sum = try? await archive.run { request.body.reduce(0) { $0 + Int($1) } }
    return Response("\(sum ?? 0)\n")
  case ("GET", "/slow"):
    print("A slow answer begins.")
    fflush(nil)
    try? await Task.sleep(for: .seconds(1), clock: .dispatchUptime)
    return Response("At last.\n")
  case ("GET", "/written"): return Response("\(await written.lines)\n")
  case ("GET", "/ticks"): return ticks()
  case (let method, let target)
  where ["GET", "HEAD"].contains(method) && target.hasPrefix("/lines/"):
    guard let count = Int(target.dropFirst(7)), count >= 0 else { break }
    return lines(count)
  case (_, "/"), (_, "/echo"), (_, "/sum"), (_, "/slow"), (_, "/ticks"), (_, "/written"):
    return Response(status: 405, "\(request.method) is not for \(request.target).\n")
  default: break
  }
  return Response(status: 404, "There is no \(request.target).\n")
}

/// Numbered lines, however many: they are made as fast as the client takes them.
private func lines(_ count: Int) -> Response {
  Response { writer in
    for first in stride(from: 1, through: count, by: 100) {
      let numbers = first...min(first + 99, count)
      try await writer.write(numbers.map { "line \($0)\n" }.joined())
      await written.add(numbers.count)
    }
  }
}

/// A line every 20 ms, until the client leaves or the server stops at once.
private func ticks() -> Response {
  Response { writer in
    try await withTimer(every: .milliseconds(20)) { ticks in
      for await tick in ticks { try await writer.write("tick, \(tick.missed) missed\n") }
    }
    // Only cancellation ends the ticks: this answer is not whole.
    throw CancellationError()
  }
}
