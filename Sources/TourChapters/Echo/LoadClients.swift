// Purpose: many clients at a time. Each sends lines from a thread of its own, waits for the answer
// and compares every byte.

import GrandCentral
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

struct LoadClients {
  let port: UInt16
  let connections: Int
  let messagesEach: Int

  struct Outcome: Sendable {
    var bytes = 0
    var roundTrips: [UInt64] = []
    var faults: [String] = []
  }

  /// Runs all clients. Each waits after its first answer until all have theirs, so that all
  /// connections are open at the same time.
  func run() -> Outcome {
    let isEverybodyThere = DispatchGroup()
    for _ in 0..<connections { isEverybodyThere.enter() }
    let outcomes = onBlockingThreads(connections) { index in
      var isThere = false
      let outcome = client(index) {
        isThere = true
        isEverybodyThere.leave()
        isEverybodyThere.wait()
      }
      if !isThere { isEverybodyThere.leave() }
      return outcome
    } refused: {
      isEverybodyThere.leave()
    }
    var total = Outcome()
    for outcome in outcomes {
      total.bytes += outcome?.bytes ?? 0
      total.roundTrips += outcome?.roundTrips ?? []
      total.faults += outcome?.faults ?? ["the system refused a thread"]
    }
    return total
  }

  private func client(_ index: Int, afterFirst: () -> Void) -> Outcome {
    var outcome = Outcome()
    guard case .success(let descriptor) = LoopbackSocket.connect(port: port, seconds: 30) else {
      outcome.faults.append("client \(index) cannot connect")
      return outcome
    }
    defer { close(descriptor) }
    var answer = [UInt8](repeating: 0, count: Self.longest)
    for number in 0..<messagesEach {
      let line = Self.line(client: index, number: number)
      let start = Machine.nanoseconds
      let isSent = line.withUnsafeBytes { LoopbackSocket.sendAll(descriptor, $0) }
      let count = answer.withUnsafeMutableBytes {
        LoopbackSocket.receiveAll(
          descriptor, UnsafeMutableRawBufferPointer(rebasing: $0[..<line.count]))
      }
      guard isSent, count == line.count, answer[..<count] == line[...] else {
        outcome.faults.append("client \(index), message \(number): \(count) bytes came back")
        return outcome
      }
      outcome.roundTrips.append(Machine.nanoseconds - start)
      outcome.bytes += count
      if number == 0 { afterFirst() }
    }
    return outcome
  }

  static let longest = 4096

  /// A line of 16 to 4,096 bytes, different for each client and number.
  static func line(client: Int, number: Int) -> [UInt8] {
    var state = UInt64(client + 1) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(number + 1) << 20
    var line: [UInt8] = []
    func next() -> UInt64 {
      state ^= state >> 12
      state ^= state << 25
      state ^= state >> 27
      return state &* 0x2545_F491_4F6C_DD1D
    }
    // Mostly short lines.
    let length = 16 + Int(next() % 240) * (number % 16 == 0 ? 17 : 1)
    line.reserveCapacity(length)
    while line.count < length - 1 {
      var letters = next()
      for _ in 0..<min(8, length - 1 - line.count) {
        line.append(UInt8(ascii: "a") + UInt8(letters & 0xFF) % 26)
        letters >>= 8
      }
    }
    line.append(UInt8(ascii: "\n"))
    return line
  }
}
