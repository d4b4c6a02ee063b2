// A small HTTP/1.1 server whose handlers are `async`, and a load generator for it.
//
//   http serve [PORT]                     serves 127.0.0.1 until SIGTERM; without PORT, any port
//   http load PORT CONNECTIONS REQUESTS   sends requests, and counts the right answers

import Glibc
import GrandCentral

let words = CommandLine.arguments.dropFirst()
let numbers = words.dropFirst().compactMap { Int($0) }

switch (words.first, numbers.count) {
case ("serve", 0...1):
  guard let port = UInt16(exactly: numbers.first ?? 0),
    let (listening, port) = LoopbackSocket.listening(on: port)
  else {
    print("http: The port is in use, or is no port. Pass another one.")
    exit(1)
  }
  await Server(handler: page).run(on: listening) {
    print("Process \(getpid()) listens on http://127.0.0.1:\(port)/ until SIGTERM.")
    fflush(nil)
  }
  close(listening)
  print("Stopped.")
case ("load", 3):
  guard let port = UInt16(exactly: numbers[0]), numbers[1] > 0, numbers[2] > 0 else { fallthrough }
  let start = DispatchTime.now()
  let right = await Load.run(port: port, connections: numbers[1], requests: numbers[2])
  let seconds = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9
  print("\(right) of \(numbers[1] * numbers[2]) right, \(Int(Double(right) / seconds)) a second")
  exit(right == numbers[1] * numbers[2] ? 0 : 1)
default:
  print("Usage: http serve [PORT] | http load PORT CONNECTIONS REQUESTS")
  exit(2)
}
