// The signal masks of the engine's threads, and of the children that they start.
import Glibc
import GrandCentral
import TestSupport

/// Prints how many threads beside the main one leave signals open that come from outside, and how
/// many block what a thread raises itself.
func masks() {
  let (arrived, isOver) = (Latch(8), DispatchSemaphore(value: 0))
  for number in 0..<8 {
    DispatchQueue(label: "masks.\(number)").async {
      arrived.open()
      isOver.wait()
    }
  }
  let fired = Latch()
  let timer = DispatchSource.makeTimerSource(queue: .global())
  timer.setEventHandler { fired.open() }
  timer.schedule(deadline: .now())
  timer.activate()
  _ = arrived.wait() && fired.wait()
  _ = eventually { processThreads().contains { $0.name == "gc-monitor" } }
  let threads = processThreads().filter { $0.id != Int(getpid()) }
  func count(_ number: Int32, blocked: Bool) -> Int {
    threads.count { ($0.blockedSignals >> UInt64(number - 1) & 1 == 1) == blocked }
  }
  say("threads", threads.count)
  for number in [SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCHLD, SIGALRM, 34, 64] {
    say("open\(number)", count(number, blocked: false))
  }
  for number in [SIGSEGV, SIGBUS, SIGABRT, SIGPIPE, SIGPROF, SIGTTIN] {
    say("blocked\(number)", count(number, blocked: true))
  }
  for _ in 0..<8 { isOver.signal() }
}

/// Prints the signals that are blocked in a program that an item starts.
func signals() {
  let blocked = Log<String>()
  DispatchQueue.global().async { blocked.append(maskOfChild()) }
  _ = blocked.waitForCount(1)
  say("blocked", blocked.all[0])
}

/// The same for a program that the handler of a signal source starts.
func signalSource() {
  signal(SIGTERM, SIG_IGN)
  let blocked = Log<String>()
  let source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
  source.setRegistrationHandler { kill(getpid(), SIGTERM) }
  source.setEventHandler { blocked.append(maskOfChild()) }
  source.activate()
  _ = blocked.waitForCount(1)
  say("blocked", blocked.all[0])
}

/// Counts signals that the main thread blocks; the engine's threads are the only others.
func blockedSource() {
  var set = sigset_t()
  sigemptyset(&set)
  sigaddset(&set, 40)
  pthread_sigmask(SIG_BLOCK, &set, nil)
  let (isRegistered, counted) = (Latch(), Counter())
  let source = DispatchSource.makeSignalSource(signal: 40, queue: DispatchQueue(label: "counts"))
  source.setRegistrationHandler { isRegistered.open() }
  source.setEventHandler { counted.add(Int(source.data)) }
  source.activate()
  _ = isRegistered.wait()
  for _ in 0..<200 { kill(getpid(), 40) }
  _ = counted.waitForValue(200)
  say("counted", counted.value)
}

private func maskOfChild() -> String {
  let child = runChild(["grep", "SigBlk", "/proc/self/status"], inheritsSignalMask: true)
  return child.output.split(whereSeparator: \.isWhitespace).last.map(String.init) ?? "none"
}
