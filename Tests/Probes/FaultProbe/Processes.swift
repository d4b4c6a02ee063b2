import CFaults
import Glibc
import GrandCentral
import TestSupport

/// Watches a child for `mask` and kills it. Returns the events that were received.
private func watched(_ mask: DispatchSource.ProcessEvent) -> DispatchSource.ProcessEvent {
  let child = startChild(["sleep", "1000"])
  let received = Log<UInt>()
  let isRegistered = Latch()
  let source = DispatchSource.makeProcessSource(
    identifier: child, eventMask: mask, queue: DispatchQueue(label: "watch"))
  source.setRegistrationHandler { isRegistered.open() }
  source.setEventHandler { received.append((source as any DispatchSourceProtocol).data) }
  source.activate()
  check(isRegistered.wait(), "the source is registered")
  kill(child, SIGKILL)
  check(received.waitForCount(1), "an event is delivered")
  check(waitFor(child).signal == SIGKILL, "the status is the program's")
  source.cancel()
  return DispatchSource.ProcessEvent(rawValue: received.all.reduce(0, |))
}

/// In a separate namespace the kernel does not report forks, and gives no error.
func unknownChanges(_ words: [String]) {
  for _ in 0..<2 { check(watched([.exit, .fork, .exec]) == .exit, "the exit is reported") }
}

/// A sandbox that refuses pidfd_open(2), because it does not know this newer call.
func sandboxedProcesses(_ words: [String]) {
  let unknown = [FAULTS_PIDFD_OPEN]
  if faults_refuse(unknown, unknown.count, ENOSYS) != 0 { skip("seccomp(2) is not available") }
  check(watched(.exit) == .exit, "the exit of a process that runs is reported")
  let child = startChild(["true"])
  check(waitFor(child).status == 0, "a child has ended")
  let received = Latch()
  let source = DispatchSource.makeProcessSource(identifier: child, eventMask: .exit)
  source.setEventHandler { received.open() }
  source.activate()
  check(received.wait(), "and its exit is reported")
  source.cancel()
}
