import CFaults
import Glibc
import GrandCentral
@_spi(RunLoop) import GrandCentralCore
import TestSupport

/// Whether four items that block in a wait unknown to the engine each get a thread. The engine
/// reads from /proc whether an item sleeps, if it can.
private func sleepersMeet() -> Bool {
  let meeting = Latch(4)
  for _ in 0..<4 {
    DispatchQueue.global().async {
      meeting.open()
      _ = meeting.wait()
    }
  }
  return meeting.wait()
}

/// No descriptor can be opened, from the start of the process.
func noDescriptors(_ words: [String]) {
  check(faults_limit(FAULTS_DESCRIPTORS, 0) == 0, "the limit holds")
  check(open("/dev/null", O_RDONLY) == -1 && errno == EMFILE, "nothing can be opened")
  check(Work.isDone(), "work runs")
  check(sleepersMeet(), "items that sleep are noticed without /proc")
  check(MainQueueRunLoop.descriptor() == -1 && errno == EMFILE, "run loops get EMFILE")
  let ran = Unguarded(0)
  DispatchQueue.main.async { ran.value += 1 }
  MainQueueRunLoop.drain()
  check(ran.value == 1, "the main queue can be drained without a descriptor")
  DispatchQueue.main.async { ran.value += 1 }
  check(faults_limit(FAULTS_DESCRIPTORS, -1) == 0, "the limit is lifted")
  let descriptor = MainQueueRunLoop.descriptor()
  check(descriptor >= 0, "run loops get their descriptor")
  check(isReadable(descriptor), "which reports what was queued before")
  MainQueueRunLoop.drain()
  check(ran.value == 2, "and that runs")
  check(Work.isDone(), "work runs")
}

private func isReadable(_ descriptor: Int32) -> Bool {
  var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  return poll(&request, 1, 0) == 1
}

/// A restrictive sandbox: no files, no thread names, no CPU mask, and only the oldest call to
/// create a thread.
func sandbox(_ words: [String]) {
  if faults_is_sanitized() { skip("sanitizers read files and the CPU mask themselves") }
  let refused = [FAULTS_OPENAT, FAULTS_PRCTL, FAULTS_SCHED_GETAFFINITY, FAULTS_EVENTFD2]
  let unknown = [FAULTS_CLONE3]
  // Two filters, because the errors differ. The second refuses prctl(2), which installs filters.
  if faults_refuse(unknown, unknown.count, ENOSYS) != 0
    || faults_refuse(refused, refused.count, EPERM) != 0
  {
    skip("seccomp(2) is not available")
  }
  check(open("/proc/self/stat", O_RDONLY) == -1 && errno == EPERM, "nothing can be opened")
  check(Work.isDone(), "work runs")
  check(sleepersMeet(), "items that sleep are noticed without /proc")
  check(MainQueueRunLoop.descriptor() == -1 && errno == EPERM, "run loops get EPERM")
}
