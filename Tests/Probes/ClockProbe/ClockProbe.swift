// Sets its wall clock forward and back while threads wait by it and by the other clock. Prints its
// checks as FaultProbe does. A separate program, because all of it runs by the clock of CClock.
import CClock
import Glibc
import GrandCentral
import TestSupport

/// One wait with a deadline, on its own thread.
private final class Wait: Sendable {
  private let ended = Latch()
  private let result = Box<DispatchTimeoutResult?>(nil)

  init(_ wait: @escaping @Sendable () -> DispatchTimeoutResult) {
    _ = TestThread("waiter") { [ended, result] in
      result.value = wait()
      ended.open()
    }
  }

  var isWaiting: Bool { !ended.isOpen }
  var timedOut: Bool { ended.wait() && result.value == .timedOut }
  var succeeded: Bool { ended.wait() && result.value == .success }
}

/// A timer and a delayed item on each clock.
private final class Timers: Sendable {
  let fired = Counter()
  let early = Counter()
  let wrong = Counter()
  private let sources: [any DispatchSourceTimer]

  init(wall: DispatchWallTime, uptime: DispatchTime) {
    let queue = DispatchQueue(label: "timers")
    sources = (0..<2).map { _ in DispatchSource.makeTimerSource(queue: queue) }
    let (fired, early, wrong) = (fired, early, wrong)
    let isDue: @Sendable () -> Void = {
      if DispatchWallTime.now() < wall { early.add() }
      fired.add()
    }
    sources[0].setEventHandler(handler: isDue)
    sources[0].schedule(wallDeadline: wall)
    sources[1].setEventHandler { wrong.add() }
    sources[1].schedule(deadline: uptime)
    for source in sources { source.activate() }
    queue.asyncAfter(wallDeadline: wall, execute: isDue)
    queue.asyncAfter(deadline: uptime) { wrong.add() }
  }
}

@main struct ClockProbe {
  private static let hour = 3600.0
  nonisolated(unsafe) private static var isRight = true

  private static func check(_ isTrue: Bool, _ what: String) {
    print(isTrue ? "ok \(what)" : "FAILED \(what)")
    isRight = isRight && isTrue
  }

  static func main() {
    let semaphore = DispatchSemaphore(value: 0)
    let group = DispatchGroup()
    group.enter()
    let date = DispatchWallTime.now() + hour
    let wall = [
      Wait { semaphore.wait(wallTimeout: date) }, Wait { group.wait(wallTimeout: date) },
    ]
    let time = DispatchTime.now() + hour
    let uptime = [Wait { semaphore.wait(timeout: time) }, Wait { group.wait(timeout: time) }]
    check(eventually { cclock_sleeps() >= 2 }, "two threads sleep by the wall clock")
    let timers = Timers(wall: date, uptime: time)

    let before = DispatchTime.now()
    cclock_step(-2 * 3600)
    check(DispatchWallTime.now() < date, "the clock was set back")
    // Each thread has to re-read its deadline and sleep again.
    check(eventually { cclock_sleeps() >= 4 }, "the sleepers check again")
    check((wall + uptime).allSatisfy(\.isWaiting), "no wait times out")
    check(timers.fired.value == 0, "no timer fires")

    cclock_step(4 * 3600)
    check(DispatchWallTime.now() > date, "the clock was set forward")
    check(wall.allSatisfy(\.timedOut), "waits by the wall clock end with it")
    check(uptime.allSatisfy(\.isWaiting), "waits by the other clock do not")
    check(timers.fired.waitForValue(2), "timers by the wall clock fire, and work for later comes")
    check(timers.early.value == 0 && timers.wrong.value == 0, "not early, and no others")
    check(DispatchTime.now() < before + hour, "which did not move")

    group.leave()
    semaphore.signal()
    check(uptime.allSatisfy(\.succeeded), "and continue when what they wait for comes")
    let past = DispatchWallTime.now() - 1.0
    check(semaphore.wait(wallTimeout: past) == .timedOut, "a deadline may lie in the past")
    cclock_step(-2 * 3600)
    let soon = DispatchWallTime.now() + 0.02
    check(semaphore.wait(wallTimeout: soon) == .timedOut, "and in a clock that was set back")
    check(DispatchWallTime.now() >= soon, "and is not early")
    exit(isRight ? 0 : 1)
  }
}
