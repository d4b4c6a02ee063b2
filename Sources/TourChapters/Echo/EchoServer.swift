// Purpose: the echo server: a listening socket under a read source, which accepts what is there.

import GrandCentral
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// SAFETY: everything that changes is only touched by items and handlers of `queue`.
final class EchoServer: @unchecked Sendable {
  let port: UInt16
  /// Signalled each time that a client has to wait because it does not read.
  let pauses = DispatchSemaphore(value: 0)
  private let descriptor: Int32
  private let idleTimeout: DispatchTimeInterval
  private let queue = DispatchQueue(label: "tour.echo.server")
  /// Connections are serial queues of their own that share this one's threads.
  private let working = DispatchQueue(label: "tour.echo.working", attributes: .concurrent)
  private let listening: any DispatchSourceRead
  /// Entered once for each descriptor that is open.
  private let open = DispatchGroup()
  private var connections: [ObjectIdentifier: EchoConnection] = [:]
  private var tally = EchoTally()

  /// Listens on a port that the system picks, from `start()` on.
  init(idleTimeout: DispatchTimeInterval) throws(FileFault) {
    (descriptor, port) = try LoopbackSocket.listening().get()
    self.idleTimeout = idleTimeout
    listening = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
  }

  func start() {
    open.enter()
    listening.setEventHandler { self.accept() }
    listening.setCancelHandler { [descriptor, open] in
      close(descriptor)
      open.leave()
    }
    listening.activate()
  }

  /// Stops listening, waits for the clients to leave, or to be closed by their timers, and says
  /// what was counted; nil when they are still there after `seconds`.
  func finish(seconds: Int = 40) -> EchoTally? {
    listening.cancel()
    if open.wait(timeout: .now() + .seconds(seconds)) == .timedOut { return nil }
    return queue.sync { tally }
  }

  private func accept() {
    while true {
      let client = LoopbackSocket.accept(descriptor)
      if client < 0 {
        switch errno {
        case EAGAIN: return
        case EINTR, ECONNABORTED: continue  // accept(2): errors of one connection, or of none.
        default:
          tally.faults.append("accept: \(String(cString: strerror(errno)))")
          return listening.cancel()
        }
      }
      serve(client)
    }
  }

  private func serve(_ client: Int32) {
    open.enter()
    let connection = EchoConnection(
      descriptor: client, on: working, idleTimeout: idleTimeout,
      whenPaused: { [pauses] in pauses.signal() },
      whenClosed: { [self] connection in
        let counts = connection.tally
        queue.async { [self] in
          connections[ObjectIdentifier(connection)] = nil
          tally.add(counts)
          open.leave()
        }
      })
    connections[ObjectIdentifier(connection)] = connection
    tally.maxAtOnce = max(tally.maxAtOnce, connections.count)
    connection.start()
  }
}
