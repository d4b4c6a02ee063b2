import CFaults
import Glibc
import GrandCentral
import TestSupport

/// Runs at least `rounds` rounds of work, and more while the disturbance `isTooLittle`.
private func work(rounds: Int, while isTooLittle: () -> Bool) -> (done: Int, all: Int) {
  var done = 0
  var all = 0
  while all < rounds || isTooLittle() {
    all += 1
    guard Work.isDone() else { break }
    done += 1
  }
  return (done, all)
}

/// Signals interrupt every thread ten thousand times a second while work runs and waits time out.
/// A signal ends each sleep in the kernel with EINTR, which no wait may take for its end.
func signalStorm(_ words: [String]) {
  check(faults_count_signal(SIGUSR1) == 0 && faults_count_signal(SIGALRM) == 0, "handlers are set")
  let isOver = Box(false)
  let storm = TestThread("storm") {
    _ = faults_set_alarm(100)
    while !isOver.value {
      _ = faults_signal_others(SIGUSR1)
      usleep(50)
    }
    _ = faults_set_alarm(0)
  }
  let early = Counter()
  let late = TestThread("deadlines") { early.add(earlyWaits(rounds: 40)) }
  let semaphores = (0..<2).map { _ in DispatchSemaphore(value: 0) }
  // Two threads that wake each other: a lost wake-up would stop both.
  let partner = TestThread("partner") {
    for _ in 0..<3000 {
      semaphores[0].wait()
      semaphores[1].signal()
    }
  }
  for _ in 0..<3000 {
    semaphores[0].signal()
    semaphores[1].wait()
  }
  let (done, all) = work(rounds: 30) { faults_signals() < 20_000 }
  let areOver = late.join() && partner.join()
  isOver.value = true
  check(storm.join() && areOver, "no wake-up was lost")
  check(done == all, "all of the work ran, each once: \(done) rounds of \(all)")
  check(early.value == 0, "no wait timed out early")
  check(faults_signals() >= 20_000, "\(faults_signals()) signals were delivered")
}

/// Runs waits of every kind that time out. Returns how many returned before their deadline.
private func earlyWaits(rounds: Int) -> Int {
  var early = 0
  let semaphore = DispatchSemaphore(value: 0)
  let group = DispatchGroup()
  group.enter()
  let item = DispatchWorkItem {}
  for round in 0..<rounds {
    let pause = DispatchTimeInterval.microseconds(500 + round * 100)
    let deadline = DispatchTime.now() + pause
    let result =
      switch round % 3 {
      case 0: semaphore.wait(timeout: deadline)
      case 1: group.wait(timeout: deadline)
      default: item.wait(timeout: deadline)
      }
    if result != .timedOut || DispatchTime.now() < deadline { early += 1 }
    let date = DispatchWallTime.now() + pause
    let wall =
      round % 2 == 0 ? semaphore.wait(wallTimeout: date) : group.wait(wallTimeout: date)
    if wall != .timedOut || DispatchWallTime.now() < date { early += 1 }
  }
  group.leave()
  return early
}

func deadlines(_ words: [String]) {
  check(earlyWaits(rounds: 60) == 0, "no wait timed out early")
  check(Work.isDone(), "work runs")
}

/// The whole process is stopped and continued repeatedly in the middle of its work.
func stoppedAndContinued(_ words: [String]) {
  let isOver = Box(false)
  let stopper = TestThread("stopper") {
    let pause = "kill -STOP $PPID; sleep 0.01; kill -CONT $PPID; sleep 0.01"
    let child = runChild(["sh", "-c", "for number in 1 2 3 4 5 6 7 8 9 10; do \(pause); done"])
    check(child.status == 0, "stopped and continued ten times")
    isOver.value = true
  }
  let early = Counter()
  let waiter = TestThread("waiter") {
    while !isOver.value { early.add(earlyWaits(rounds: 5)) }
  }
  let (done, all) = work(rounds: 10) { !isOver.value }
  check(stopper.join() && waiter.join(), "all threads continued")
  check(done == all, "all of the work ran, each once: \(done) rounds of \(all)")
  check(early.value == 0, "no wait timed out early")
}
