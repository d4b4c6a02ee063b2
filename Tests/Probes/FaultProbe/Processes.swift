import CFaults
import Glibc
import GrandCentral
import TestSupport

/// Watches a child that ends, for `mask`. Returns what was told, once the exit was.
private func watched(_ mask: DispatchSource.ProcessEvent) -> DispatchSource.ProcessEvent {
  let child = startChild(["sleep", "1000"])
  let told = Log<UInt>()
  let isRegistered = Latch()
  let source = DispatchSource.makeProcessSource(
    identifier: child, eventMask: mask, queue: DispatchQueue(label: "watch"))
  source.setRegistrationHandler { isRegistered.open() }
  source.setEventHandler { told.append((source as any DispatchSourceProtocol).data) }
  source.activate()
  check(isRegistered.wait(), "the source is registered")
  kill(child, SIGKILL)
  check(told.waitForCount(1), "something is told")
  check(waitFor(child).signal == SIGKILL, "the status is the program's")
  source.cancel()
  return DispatchSource.ProcessEvent(rawValue: told.all.reduce(0, |))
}

/// In a namespace of its own the kernel does not tell of forks, nor that it does not.
func unknownChanges(_ words: [String]) {
  for _ in 0..<2 { check(watched([.exit, .fork, .exec]) == .exit, "the exit is told") }
}

/// pidfd_open(2) is younger than many a sandbox.
func sandboxedProcesses(_ words: [String]) {
  let unknown = [FAULTS_PIDFD_OPEN]
  if faults_refuse(unknown, unknown.count, ENOSYS) != 0 { skip("seccomp(2) is not to be had") }
  check(watched(.exit) == .exit, "the exit of a process that runs is told")
  let child = startChild(["true"])
  check(waitFor(child).status == 0, "a child is gone")
  let told = Latch()
  let source = DispatchSource.makeProcessSource(identifier: child, eventMask: .exit)
  source.setEventHandler { told.open() }
  source.activate()
  check(told.wait(), "and its exit is told")
  source.cancel()
}
