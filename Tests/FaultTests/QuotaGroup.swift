import Glibc

/// A control group of the test's own, beside the test's: cgroups(7), version 1.
struct QuotaGroup {
  let folder: String
  private static let top = "/sys/fs/cgroup/cpu"

  static var isWritable: Bool {
    access(top + "/cpu.cfs_quota_us", F_OK) == 0 && access(top, W_OK) == 0
  }

  init?() {
    folder = "\(Self.top)/grandcentral-\(getpid())"
    guard mkdir(folder, 0o755) == 0 || errno == EEXIST else { return nil }
  }

  /// Once the process that was in it is gone.
  func remove() { rmdir(folder) }
}
