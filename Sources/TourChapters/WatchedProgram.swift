// Purpose: runs real programs beside a chapter. A process source reports the end, and only its
// handler waits for the status.

import GrandCentral
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

enum WatchedProgram {
  /// Starts a program. `whenOver` is called once, on `queue`, when it has ended and is reaped.
  static func start(
    _ spawn: Spawn, on queue: DispatchQueue, whenOver: @escaping @Sendable (Ending) -> Void
  ) -> Result<pid_t, FileFault> {
    let started = spawn.start()
    guard case .success(let process) = started else { return started }
    Leavings.shared.began(process)
    let source = DispatchSource.makeProcessSource(
      identifier: process, eventMask: .exit, queue: queue)
    source.setEventHandler {
      Leavings.shared.willEnd(process)
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0 && errno == EINTR {}
      source.cancel()
      whenOver(Ending(status: status))
    }
    source.activate()
    return started
  }

  /// Starts all programs and waits for their ends. Kills those that take longer than `seconds`.
  static func run(_ spawns: [Spawn], seconds: Int = 60) -> [Result<Ending, FileFault>] {
    let queue = DispatchQueue(label: "tour.programs")
    let group = DispatchGroup()
    let endings = Endings(count: spawns.count)
    var processes: [pid_t?] = []
    for (index, spawn) in spawns.enumerated() {
      group.enter()
      let started = start(spawn, on: queue) { ending in
        endings.values[index] = ending
        group.leave()
      }
      switch started {
      case .success(let process): processes.append(process)
      case .failure:
        processes.append(nil)
        group.leave()
      }
    }
    if group.wait(timeout: .now() + .seconds(seconds)) == .timedOut {
      queue.sync {
        // A program without an ending is not reaped, so its process ID still names it.
        for (index, process) in processes.enumerated() where endings.values[index] == nil {
          if let process { kill(process, SIGKILL) }
        }
      }
      group.wait()
    }
    return queue.sync {
      zip(spawns, endings.values).map { spawn, ending in
        ending.map { .success($0) }
          ?? .failure(FileFault(path: Path(spawn.executable), code: ENOENT))
      }
    }
  }

  static func run(_ spawn: Spawn) -> Result<Ending, FileFault> { run([spawn])[0] }
}

// SAFETY: `values` is only touched by items of the queue of programs.
private final class Endings: @unchecked Sendable {
  var values: [Ending?]

  init(count: Int) { values = Array(repeating: nil, count: count) }
}
