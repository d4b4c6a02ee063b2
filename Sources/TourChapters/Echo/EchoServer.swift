// Purpose: the echo server: a read source accepts the connections of a listening socket.

import GrandCentral
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// SAFETY: every variable is only touched by items and handlers of `queue`.
final class EchoServer: @unchecked Sendable {
  let port: UInt16
  /// Signalled each time a connection stops reading because its client does not read.
  let pauses = DispatchSemaphore(value: 0)
  private let descriptor: Int32
  private let idleTimeout: DispatchTimeInterval
  private let queue = DispatchQueue(label: "tour.echo.server")
  /// The target queue of every connection's serial queue.
  private let working = DispatchQueue(label: "tour.echo.working", attributes: .concurrent)
  private let listening: any DispatchSourceRead
  /// Entered once for each open descriptor.
  private let open = DispatchGroup()
  private var connections: [ObjectIdentifier: EchoConnection] = [:]
  private var tally = EchoTally()

  /// Creates a server on a port that the system picks. It listens from `start()` on.
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

  /// Stops listening, and waits until the clients leave or their idle timers close them.
  /// - Returns: the server's counts; nil if clients remain after `seconds`.
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
        case EINTR, ECONNABORTED: continue  // accept(2): an error of one connection, or a signal.
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
