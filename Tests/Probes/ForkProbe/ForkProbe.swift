// Forks, in one way each time, and says what became of the parent and of the child: "ok …" or
// "FAILED …" for each thing looked at. A process of its own, since a child of the test process
// would have all of its threads' locks. What is shared with threads of the parent, a child must not
// touch: it looks at objects that it makes itself.
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
    // Globals and types are made when they are first used, under locks of the Swift runtime. A
    // thread may be there when another forks, and a child that used something for the first time
    // would then wait for ever.
    _ = (firstProcess, patienceSeconds)
    if name != "unused" { useEverything() }
    run(words.dropFirst().map(String.init))
    finish()
  }

  nonisolated(unsafe) private static let scenarios: [String: ([String]) -> Void] = [
    "main": fromMain, "unused": beforeFirstUse, "worker": fromWorker, "handler": fromHandler,
    "busy": underLoad, "queued": queuedWork, "suspended": suspendedQueue, "later": laterWork,
    "timers": armedTimers, "descriptors": watchedDescriptors, "signals": watchedSignals,
    "data": userData, "inside": insideQueues, "barrier": insideBarrier, "main-item": fromMainItem,
    "channels": openChannels, "grandchildren": grandchildren, "main-queue": mainQueueOfChild,
    "run-loop": runLoopDescriptor,
  ]
}

/// The process that the probe began as.
let firstProcess = getpid()

nonisolated(unsafe) private var failures = 0

/// In any process. In a child only what it made itself may be looked at, so there is no lock here.
func check(_ isTrue: Bool, _ what: String) {
  let place = getpid() == firstProcess ? "" : "in the child: "
  let line = (isTrue ? "ok " : "FAILED ") + place + what + "\n"
  _ = write(STDOUT_FILENO, line, line.utf8.count)
  if !isTrue { failures += 1 }
}

func finish() -> Never { _exit(failures == 0 ? 0 : 1) }

/// What must not run in a child.
func failInChild() {
  if getpid() != firstProcess {
    check(false, "work of the parent ran")
    _exit(77)
  }
}

/// Forks, has the child run `body` and end, and looks how it ended.
func fork(_ what: String, _ body: () -> Void) {
  let child = faults_fork()
  if child == 0 {
    beginChild()
    body()
    finish()
  }
  expectEnd(of: child, what)
}

/// Waits for the child's end.
func expectEnd(of child: pid_t, _ what: String) {
  let end = child > 0 ? faults_end_of(child, Int32(2 * patienceSeconds)) : -1
  check(end == 0, "\(what): the child ended well (\(end))")
}

func beginChild() {
  // Ends one that hangs: the parent waits for it.
  alarm(UInt32(patienceSeconds))
  failures = 0
}

func parentGoesOn() {
  let done = Latch(2)
  DispatchQueue(label: "parent").async { done.open() }
  DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(5)) { done.open() }
  check(done.wait(), "the parent goes on")
}
