import CFaults
import Glibc
import GrandCentral
import TestSupport

/// A control group with a memory limit, which the process approaches and then leaves.
func memoryLimit(_ words: [String]) {
  guard let folder = variable("FAULTS_GROUP") else { exit(2) }
  if faults_is_sanitized() { skip("sanitizers use memory of their own") }
  let limit = 256 << 20
  guard write("\(limit)", to: folder + "/memory.limit_in_bytes"),
    write("\(getpid())", to: folder + "/cgroup.procs")
  else { skip("the group takes no limit") }
  let source = DispatchSource.makeMemoryPressureSource(eventMask: .all)
  let log = Log<DispatchSource.MemoryPressureEvent>()
  let begun = Latch()
  source.setRegistrationHandler { begun.open() }
  source.setEventHandler { log.append(source.data) }
  source.activate()
  check(begun.wait(), "the source begins")
  let used = limit / 100 * 89
  let memory = UnsafeMutableRawPointer.allocate(byteCount: used, alignment: 4096)
  memset(memory, 1, used)
  check(eventually { log.all.contains(.warning) }, "high usage is reported")
  memory.deallocate()
  check(eventually { log.all.last == .normal }, "its end is reported")
  check(!log.all.isEmpty && log.all.first != .normal, "nothing is reported without cause")
  source.cancel()
}
