import Glibc

/// A control group of the test's own, beside the test's: cgroups(7), version 1.
struct QuotaGroup {
  enum Controller: String { case cpu, memory }

  let folder: String

  private static func top(_ controller: Controller) -> String { "/sys/fs/cgroup/\(controller)" }

  static func isWritable(_ controller: Controller) -> Bool {
    let limit = controller == .cpu ? "/cpu.cfs_quota_us" : "/memory.limit_in_bytes"
    return access(top(controller) + limit, F_OK) == 0 && access(top(controller), W_OK) == 0
  }

  init?(_ controller: Controller) {
    folder = "\(Self.top(controller))/grandcentral-\(getpid())"
    guard mkdir(folder, 0o755) == 0 || errno == EEXIST else { return nil }
  }

  /// Once the process that was in it is gone.
  func remove() { rmdir(folder) }
}
