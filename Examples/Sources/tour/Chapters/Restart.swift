// Chapter 4: a child process that is restarted when it fails. A process source reports its end, and
// asyncAfter() starts it again. No thread waits for the child or for the pause.

import GrandCentral

/// Runs a program until it succeeds, with a longer pause after each failure.
final class Supervisor: Sendable {
  private let words: @Sendable (_ attempt: Int) -> [String]
  private let maxAttempts: Int
  private let log: @Sendable (String) -> Void
  /// How each attempt has ended.
  private let endings = Guarded<[Program.Ending]>([], label: "restart.endings")
  private let queue = DispatchQueue(label: "restart.supervisor")
  private let isOver = DispatchSemaphore(value: 0)

  /// - Parameter words: the program and its arguments, for the attempts 1, 2, ….
  init(
    maxAttempts: Int, log: @escaping @Sendable (String) -> Void,
    words: @escaping @Sendable (_ attempt: Int) -> [String]
  ) {
    self.maxAttempts = maxAttempts
    self.log = log
    self.words = words
  }

  /// Returns how the attempts have ended, after the last one.
  func run() -> [Program.Ending] {
    queue.async { self.start(attempt: 1) }
    isOver.wait()
    return endings.sync { $0 }
  }

  private func start(attempt: Int) {
    do throws(Failure) {
      let process = try Program.start(words(attempt))
      log("attempt \(attempt) has started")
      let exit = DispatchSource.makeProcessSource(
        identifier: process, eventMask: .exit, queue: queue)
      exit.setEventHandler { [self] in
        exit.cancel()
        ended(attempt: attempt, Program.wait(for: process))
      }
      exit.activate()
    } catch {
      log("\(error)")
      isOver.signal()
    }
  }

  private func ended(attempt: Int, _ ending: Program.Ending) {
    endings.sync { $0.append(ending) }
    if ending == .exited(0) || attempt == maxAttempts {
      log("attempt \(attempt) has ended: \(ending)")
      isOver.signal()
    } else {
      let pause = DispatchTimeInterval.milliseconds(20 << attempt)
      log("attempt \(attempt) has ended: \(ending); the next one starts in \(20 << attempt) ms")
      queue.asyncAfter(deadline: .now() + pause) { self.start(attempt: attempt + 1) }
    }
  }
}

extension Chapter {
  static let restart = Chapter(
    name: "restart", summary: "a child process that fails twice and is restarted"
  ) { tour in
    let script = "case $0 in 1) exit 3;; 2) kill -KILL $$;; *) exit 0;; esac"
    let endings = Supervisor(maxAttempts: 5, log: tour.say) { attempt in
      ["sh", "-c", script, "\(attempt)"]
    }.run()
    tour.check(
      endings == [.exited(3), .killed(signal: 9), .exited(0)],
      "a failure, a kill and a success were seen, in this order", "seen were \(endings)")
  }
}
