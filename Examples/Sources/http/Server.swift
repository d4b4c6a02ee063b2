// The server: a task that accepts connections, and a task for each connection.

import Glibc
import GrandCentral

typealias Handler = @Sendable (Request) async -> Response

struct Server: Sendable {
  var limits = Limits()
  let handler: Handler
  private let answers = Answers()

  init(handler: @escaping Handler) { self.handler = handler }

  /// Serves the clients of `listening` until SIGTERM comes. Then it accepts no more connections,
  /// finishes the answers that it has begun, and returns when the last connection is closed.
  /// A second SIGTERM cancels these answers.
  func run(on listening: Int32, started: @escaping @Sendable () -> Void) async {
    let serving = Task { await accept(from: listening) }
    // The scope of the signal lasts until no client is left: meanwhile SIGTERM kills nothing.
    let watching = Task {
      await withSignal(SIGTERM) { signals in
        started()
        var stops = 0
        for await count in signals {
          stops += count
          await answers.stop(atOnce: stops > 1)
          serving.cancel()
        }
      }
    }
    await serving.value
    watching.cancel()
    await watching.value
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
      await Connection(channel: channel, limits: limits, handler: handler, answers: answers)
        .serve()
    }
    close(client)
  }
}
