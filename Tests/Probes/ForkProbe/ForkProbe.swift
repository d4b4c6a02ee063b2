// Forks in one way per run and reports on the parent and the child: "ok …" or "FAILED …" for each
// check. It is a separate process, because a child of the test process would inherit the locks of
// all its threads. A child must not touch objects that it shares with threads of the parent, so it
// checks objects that it creates itself.
import CFaults
import Glibc
import GrandCentral
import TestSupport

@main struct ForkProbe {
  static func main() {
    let words = (CommandLine.arguments.dropFirst().first ?? "").split(separator: ":")
    guard let name = words.first, let run = scenarios[String(name)] else {
      print("unknown scenario; there are: \(scenarios.keys.sorted().joined(separator: " "))")
      exit(2)
    }
    // The Swift runtime initialises globals and types at their first use, under locks. If another
    // thread holds such a lock during the fork, a child that then uses something for the first time
    // waits for ever. So everything is used once here, and no thread is still busy with its end.
    _ = (firstProcess, deadlineSeconds)
    if !["unused", "waited", "program-handler", "environment"].contains(name) { useEverything() }
    waitUntilOthersSleep()
    run(words.dropFirst().map(String.init))
    finish()
  }

  nonisolated(unsafe) private static let scenarios: [String: ([String]) -> Void] = [
    "main": fromMain, "unused": beforeFirstUse, "worker": fromWorker, "handler": fromHandler,
    "busy": underLoad, "queued": queuedWork, "suspended": suspendedQueue, "later": laterWork,
    "timers": armedTimers, "descriptors": watchedDescriptors, "signals": watchedSignals,
    "data": userData, "inside": insideQueues, "barrier": insideBarrier, "main-item": fromMainItem,
    "channels": openChannels, "grandchildren": grandchildren, "main-queue": mainQueueOfChild,
    "run-loop": runLoopDescriptor, "numbers": reusedNumbers, "program-handler": programHandler,
    "caught": caughtAtTheGate, "notifications": notifications, "semaphore": sharedSemaphore,
    "forks": forksOnly, "waited": afterWaitAlone, "cancelled-timers": cancelledTimers,
    "last-thread": lastThreadEnds, "environment": besideEnvironment,
    "main-ended": afterMainThread,
  ]
}

/// The id of the probe's first process.
let firstProcess = getpid()

nonisolated(unsafe) private var failures = 0

/// Prints one check, in any process. A child may use only what it made itself, so this has no lock.
func check(_ isTrue: Bool, _ what: String) {
  let place = getpid() == firstProcess ? "" : "in the child: "
  let line = (isTrue ? "ok " : "FAILED ") + place + what + "\n"
  _ = write(STDOUT_FILENO, line, line.utf8.count)
  if !isTrue { failures += 1 }
}

func finish() -> Never { _exit(failures == 0 ? 0 : 1) }

/// Fails if it runs in a child; the body of items that must not run there.
func failInChild() {
  if getpid() != firstProcess {
    check(false, "work of the parent ran")
    _exit(77)
  }
}

/// Forks. The child runs `body` and exits; the parent checks the exit status.
func fork(_ what: String, _ body: () -> Void) {
  let child = faults_fork()
  if child == 0 {
    beginChild()
    body()
    finish()
  }
  expectEnd(of: child, what)
}

/// Waits for the child's exit and checks its status.
func expectEnd(of child: pid_t, _ what: String) {
  let end = child > 0 ? faults_end_of(child, Int32(2 * deadlineSeconds)) : -1
  check(end == 0, "\(what): the child ended well (\(end))")
}

func beginChild() {
  // Kills a child that hangs, because the parent waits for it.
  alarm(UInt32(deadlineSeconds))
  failures = 0
}

func parentContinues() {
  let done = Latch(2)
  DispatchQueue(label: "parent").async { done.open() }
  DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(5)) { done.open() }
  check(done.wait(), "the parent continues")
}
