import Glibc

/// A version 1 control group for one test, beside the test process's own group. cgroups(7).
public struct QuotaGroup {
  public enum Controller: String { case cpu, memory }

  public let folder: String

  private static func top(_ controller: Controller) -> String { "/sys/fs/cgroup/\(controller)" }

  public static func isWritable(_ controller: Controller) -> Bool {
    let limit = controller == .cpu ? "/cpu.cfs_quota_us" : "/memory.limit_in_bytes"
    return access(top(controller) + limit, F_OK) == 0 && access(top(controller), W_OK) == 0
  }

  /// Makes the group. `name` is unique to the test that uses it.
  public init?(_ controller: Controller, _ name: String) {
    folder = "\(Self.top(controller))/grandcentral-\(name)-\(getpid())"
    guard mkdir(folder, 0o755) == 0 || errno == EEXIST else { return nil }
  }

  /// Limits the group's threads to `percent` of one CPU.
  public func setQuota(percent: Int) -> Bool {
    writeText("100000", to: "cpu.cfs_period_us")
      && writeText("\(percent * 1000)", to: "cpu.cfs_quota_us")
  }

  /// The words that run a command in the group; they precede the command.
  public var launcher: [String] {
    ["sh", "-c", "echo $$ > '\(folder)/cgroup.procs' && exec \"$0\" \"$@\""]
  }

  private func writeText(_ text: String, to file: String) -> Bool {
    let descriptor = open("\(folder)/\(file)", O_WRONLY)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return write(descriptor, text, text.utf8.count) == text.utf8.count
  }

  /// Removes the group. Call it after the process in the group has ended.
  public func remove() { rmdir(folder) }
}
