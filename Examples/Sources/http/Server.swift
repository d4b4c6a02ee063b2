// The server: a task that accepts connections, and a task for each connection.

import Glibc
import GrandCentral

typealias Handler = @Sendable (Request) async -> Response

struct Server: Sendable {
  var limits = Limits()
  let handler: Handler

  /// Serves the clients of `listening` until SIGTERM comes. Then it accepts no more connections,
  /// finishes the answers that it has begun, and returns when the last connection is closed.
  /// A second SIGTERM ends the process at once.
  func run(on listening: Int32, started: () -> Void) async {
    await withTaskGroup(of: Void.self) { group in
      await withSignal(SIGTERM) { signals in
        group.addTask { await accept(from: listening) }
        started()
        for await _ in signals { break }
      }
      group.cancelAll()
    }
  }

  private func accept(from listening: Int32) async {
    await withDiscardingTaskGroup { connections in
      await withReadEvents(of: listening) { events in
        for await _ in events {
          while case let client = Glibc.accept(listening, nil, nil), client >= 0 {
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            connections.addTask { await serve(client) }
          }
          // Without a free descriptor, the client stays in the kernel's queue for a while.
          if errno == EMFILE || errno == ENFILE {
            try? await Task.sleep(for: .milliseconds(50), clock: .dispatchUptime)
          }
        }
      }
    }
  }

  private func serve(_ client: Int32) async {
    await withChannel(fileDescriptor: client) { channel in
      await Connection(channel: channel, limits: limits, handler: handler).serve()
    }
    close(client)
  }
}
