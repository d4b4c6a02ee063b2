// Limits on a process's resources, for tests of the engine's behaviour without them. Use them only
// in a process of the test's own: other tests need memory and descriptors.
import Glibc

public enum ProcessLimit: Sendable {
  /// No descriptor can be opened: EMFILE.
  case noDescriptors
  /// No thread with a stack of the usual size can be created: EAGAIN. Small allocations succeed.
  case noStacks
}

/// Runs `body` under a lowered resource limit. setrlimit(2).
public func under<Result>(_ limit: ProcessLimit, _ body: () throws -> Result) rethrows -> Result {
  let resource: __rlimit_resource_t
  let most: rlim_t
  switch limit {
  case .noDescriptors: (resource, most) = (__rlimit_resource_t(RLIMIT_NOFILE.rawValue), 0)
  case .noStacks:
    (resource, most) = (
      __rlimit_resource_t(RLIMIT_AS.rawValue), rlim_t(addressSpaceBytes + 1 << 20)
    )
  }
  var usual = rlimit()
  guard getrlimit(resource, &usual) == 0 else { fatalError("getrlimit: \(errno)") }
  var lowered = rlimit(rlim_cur: min(most, usual.rlim_max), rlim_max: usual.rlim_max)
  guard setrlimit(resource, &lowered) == 0 else { fatalError("setrlimit: \(errno)") }
  defer { setrlimit(resource, &usual) }
  return try body()
}

/// The size of the address space in bytes. proc(5): the first number of statm, in pages.
private var addressSpaceBytes: Int {
  let pages = (contents(of: "/proc/self/statm") ?? "").prefix { $0.isNumber }
  return (Int(pages) ?? 0) * Int(getpagesize())
}
