// Purpose: one connection of the echo server: a read source, a write source that is suspended
// unless bytes remain to be written, and a timer source that closes an idle connection.
//   read → send at once → the rest is held → write source resumed
//   much is held → read source suspended → TCP tells the client to wait
// Invariant: the descriptor is closed when the cancel handlers of both its sources have run, and
// never before: until then the engine watches it.

import GrandCentral
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// SAFETY: everything that changes is only touched by items and handlers of `queue`.
final class EchoConnection: @unchecked Sendable {
  /// No more is read while so much is held.
  static let heldBytesLimit = 256 << 10

  private let descriptor: Int32
  private let queue: DispatchQueue
  private let idleTimeout: DispatchTimeInterval
  private let whenClosed: (EchoConnection) -> Void
  private let whenPaused: () -> Void
  private let reading: any DispatchSourceRead
  private let writing: any DispatchSourceWrite
  private let idle: any DispatchSourceTimer

  /// What came and has not been sent: `held[heldStart...]`.
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

  /// Starts all three sources. Their handlers hold the connection until it is closed.
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
      // Suspended before it starts: a socket nearly always has room, which would be told for ever.
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
        // The client has ended its half; what is held still goes out.
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
    // Not past what is held: the order of bytes is the whole point.
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

  /// Sends what there is room for; nil when the connection has failed.
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

  /// From now on the timer counts anew.
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
    // A client may leave without reading all: its right, and for the chapter's checks to judge.
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
    // A suspended source keeps its cancel handler back.
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
