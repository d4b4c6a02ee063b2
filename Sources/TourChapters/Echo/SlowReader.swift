// Purpose: a client that sends, and does not read before the server has stopped reading too.

import GrandCentral
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

struct SlowReader {
  let port: UInt16
  let byteCount: Int
  /// Signalled when the server stops reading from a client.
  let pauses: DispatchSemaphore

  struct Outcome: Sendable {
    var wasPaused = false
    var bytesRead = 0
    var isWrong = false
  }

  /// Sends on one thread and reads on another, which starts when the server has stopped reading.
  func run() -> Outcome {
    guard case .success(let descriptor) = LoopbackSocket.connect(port: port, seconds: 30) else {
      return Outcome()
    }
    defer { close(descriptor) }
    let outcomes = onBlockingThreads(2) { index in
      index == 0 ? send(descriptor) : read(descriptor)
    }
    return outcomes[1] ?? Outcome()
  }

  private func send(_ descriptor: Int32) -> Outcome {
    var sent = 0
    while sent < byteCount {
      let piece = Self.pattern(at: sent, count: byteCount - sent)
      guard LoopbackSocket.sendAll(descriptor, piece) else { break }
      sent += piece.count
    }
    LoopbackSocket.endSending(descriptor)
    return Outcome()
  }

  private func read(_ descriptor: Int32) -> Outcome {
    var outcome = Outcome()
    outcome.wasPaused = pauses.wait(timeout: .now() + .seconds(20)) == .success
    withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer in
      while true {
        let expected = Self.pattern(at: outcome.bytesRead, count: buffer.count)
        let count = recv(descriptor, buffer.baseAddress, expected.count, 0)
        if count <= 0 { return }
        if !outcome.isWrong {
          outcome.isWrong = memcmp(buffer.baseAddress!, expected.baseAddress!, count) != 0
        }
        outcome.bytesRead += count
      }
    }
    return outcome
  }

  /// A prime number of bytes, so that the comparison detects a lost or repeated buffer.
  private static let period = 65_521
  // SAFETY: written once, before any thread reads it, and never freed.
  private nonisolated(unsafe) static let bytes: UnsafeRawBufferPointer = {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: period, alignment: 16)
    for index in 0..<period {
      bytes[index] = UInt8(truncatingIfNeeded: index ^ index >> 8 &* 31)
    }
    return UnsafeRawBufferPointer(bytes)
  }()

  /// The bytes of the pattern from `place` on, up to `count`.
  private static func pattern(at place: Int, count: Int) -> UnsafeRawBufferPointer {
    let start = place % period
    return UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + count, period)])
  }
}
