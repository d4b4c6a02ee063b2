// What the server has to offer.

import Glibc
import GrandCentral

/// Work of a queue, as a program has that grew up before `async`.
private let archive = DispatchQueue(label: "http.archive")

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
  case (_, "/"), (_, "/echo"), (_, "/sum"), (_, "/slow"):
    return Response(status: 405, "\(request.method) is not for \(request.target).\n")
  default: return Response(status: 404, "There is no \(request.target).\n")
  }
}
