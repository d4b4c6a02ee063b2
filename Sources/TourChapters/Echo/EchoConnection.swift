// Purpose: one connection of the echo server. A read source reads, a write source runs while bytes
// remain to be written, and a timer source closes an idle connection.
//   read → send at once → hold the rest → resume the write source
//   too much held → suspend the read source → TCP makes the client wait
// Invariant: the descriptor stays open until the cancel handlers of both its sources have run,
// because the engine watches it until then.

import GrandCentral
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// SAFETY: every variable is only touched by items and handlers of `queue`.
final class EchoConnection: @unchecked Sendable {
  /// The connection stops reading while it holds more than this many bytes.
  static let heldBytesLimit = 256 << 10

  private let descriptor: Int32
  private let queue: DispatchQueue
  private let idleTimeout: DispatchTimeInterval
  private let whenClosed: (EchoConnection) -> Void
  private let whenPaused: () -> Void
  private let reading: any DispatchSourceRead
  private let writing: any DispatchSourceWrite
  private let idle: any DispatchSourceTimer

  /// Bytes received and not yet sent: `held[heldStart...]`.
  private var held: [UInt8] = []
  private var heldStart = 0
  private var isReadingPaused = false
  private var isWritingPaused = true
  private var hasInputEnded = false
  private var isEnding = false
  private var openSources = 3
  private var lastActivity = Machine.nanoseconds
  private(set) var tally = EchoTally()

  init(
    descriptor: Int32, on target: DispatchQueue, idleTimeout: DispatchTimeInterval,
    whenPaused: @escaping () -> Void, whenClosed: @escaping (EchoConnection) -> Void
  ) {
    self.descriptor = descriptor
    self.idleTimeout = idleTimeout
    self.whenPaused = whenPaused
    self.whenClosed = whenClosed
    queue = DispatchQueue(label: "tour.echo.connection", target: target)
    reading = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    writing = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
    idle = DispatchSource.makeTimerSource(queue: queue)
    tally.connections = 1
  }

  /// Starts all three sources. Their handlers retain the connection until it is closed.
  func start() {
    reading.setEventHandler { self.read() }
    writing.setEventHandler { self.write() }
    idle.setEventHandler { self.fellSilent() }
    reading.setCancelHandler { self.sourceEnded() }
    writing.setCancelHandler { self.sourceEnded() }
    idle.setCancelHandler { self.sourceEnded() }
    queue.async { [self] in
      active()
      idle.activate()
      // Suspended before activation: a socket is nearly always writable and would fire
      // continuously.
      writing.suspend()
      writing.activate()
      reading.activate()
    }
  }

  // MARK: On the queue

  private func read() {
    withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer in
      let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
      if count < 0 {
        if errno != EAGAIN && errno != EINTR { fail("recv") }
      } else if count == 0 {
        // The client has ended its half of the connection. The held bytes still go out.
        hasInputEnded = true
        reading.cancel()
        if heldCount == 0 { end() }
      } else {
        active()
        tally.bytesReceived += count
        echo(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      }
    }
  }

  private func echo(_ bytes: UnsafeRawBufferPointer) {
    // New bytes must not overtake the held ones.
    let sent = heldCount == 0 ? send(bytes) : 0
    guard let sent else { return }
    held.append(contentsOf: bytes[sent...])
    tally.maxBytesHeld = max(tally.maxBytesHeld, heldCount)
    if heldCount > 0 && isWritingPaused {
      isWritingPaused = false
      writing.resume()
    }
    if heldCount > Self.heldBytesLimit && !isReadingPaused {
      isReadingPaused = true
      reading.suspend()
      tally.pauses += 1
      whenPaused()
    }
  }

  private func write() {
    let sent = held.withUnsafeBytes { send(UnsafeRawBufferPointer(rebasing: $0[heldStart...])) }
    guard let sent, sent > 0 else { return }
    active()
    heldStart += sent
    if heldCount == 0 {
      held.removeAll(keepingCapacity: true)
      heldStart = 0
      if hasInputEnded { return end() }
      isWritingPaused = true
      writing.suspend()
    }
    if isReadingPaused && heldCount <= Self.heldBytesLimit / 2 {
      held.removeFirst(heldStart)
      heldStart = 0
      isReadingPaused = false
      reading.resume()
    }
  }

  private var heldCount: Int { held.count - heldStart }

  /// Sends as many bytes as the socket accepts; nil if the connection has failed.
  private func send(_ bytes: UnsafeRawBufferPointer) -> Int? {
    let count = LoopbackSocket.send(descriptor, bytes)
    if count >= 0 {
      tally.bytesSent += count
      return count
    }
    if errno == EAGAIN || errno == EINTR { return 0 }
    fail("send")
    return nil
  }

  /// Restarts the idle timer.
  private func active() {
    lastActivity = Machine.nanoseconds
    tally.timersArmed += 1
    idle.schedule(deadline: .now() + idleTimeout)
  }

  private func fellSilent() {
    tally.idleClosed += 1
    tally.shortestSilence = min(tally.shortestSilence, Machine.nanoseconds - lastActivity)
    end()
  }

  private func fail(_ call: String) {
    // A client may leave without reading everything. The chapter's checks judge that.
    tally.faults.append("\(call): \(String(cString: strerror(errno)))")
    end()
  }

  private func end() {
    if isEnding { return }
    isEnding = true
    if tally.idleClosed == 0 { tally.timersCancelled += 1 }
    idle.cancel()
    reading.cancel()
    writing.cancel()
    // A suspended source does not run its cancel handler.
    if isReadingPaused { reading.resume() }
    if isWritingPaused { writing.resume() }
  }

  private func sourceEnded() {
    openSources -= 1
    if openSources > 0 { return }
    close(descriptor)
    whenClosed(self)
  }
}
