// CPU limits of simulated machines, whose files are strings: proc(5), cgroups(7).
// Shows contract row T2.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The number of CPUs") struct CPULimitsTests {
  private func limits(_ files: [String: String], cpus: Int? = 64) -> CPULimits {
    CPULimits(read: { files[$0] }, affinity: { cpus })
  }

  private static let mountV2 =
    "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
  private static let mountV1 =
    "33 24 0:29 / /sys/fs/cgroup/cpu rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n"

  /// A machine with version 2 groups and these cpu.max files, by folder.
  private func version2(
    _ group: String, _ quotas: [String: String], mount: String = mountV2, cpus: Int? = 64
  ) -> CPULimits {
    var files = ["/proc/self/cgroup": "0::\(group)\n", "/proc/self/mountinfo": mount]
    for (folder, text) in quotas { files["/sys/fs/cgroup\(folder)/cpu.max"] = text }
    return limits(files, cpus: cpus)
  }

  /// A machine with version 1 groups and these quota and period files, by folder.
  private func version1(
    _ group: String, _ quotas: [String: (quota: String, period: String)],
    mount: String = mountV1
  ) -> CPULimits {
    var files = [
      "/proc/self/cgroup": "5:memory:/elsewhere\n4:cpu,cpuacct:\(group)\n1:name=systemd:/x\n",
      "/proc/self/mountinfo": mount,
    ]
    for (folder, text) in quotas {
      files["/sys/fs/cgroup/cpu\(folder)/cpu.cfs_quota_us"] = text.quota
      files["/sys/fs/cgroup/cpu\(folder)/cpu.cfs_period_us"] = text.period
    }
    return limits(files)
  }

  @Test(arguments: [1, 2, 64, 512])
  func `is that of the affinity mask without groups`(cpus: Int) {
    #expect(limits([:], cpus: cpus).width() == cpus)
    #expect(limits([:], cpus: cpus).quota() == nil)
  }

  @Test func `follows a quota that changes, and another group, without reading the mounts again`() {
    let files = Box([
      "/proc/self/cgroup": "0::/a\n", "/proc/self/mountinfo": Self.mountV2,
      "/sys/fs/cgroup/b/cpu.max": "300000 100000",
    ])
    let mountsRead = Box(0)
    let limits = CPULimits(
      read: {
        if $0 == "/proc/self/mountinfo" { mountsRead.value += 1 }
        return files.value[$0]
      }, affinity: { 64 }, remembered: QuotaFolders())
    #expect(limits.width() == 64)
    // The group has no quota file before the controller is enabled for it.
    files.value["/sys/fs/cgroup/a/cpu.max"] = "200000 100000"
    #expect(limits.width() == 2)
    files.value["/sys/fs/cgroup/a/cpu.max"] = "max 100000"
    #expect(limits.width() == 64)
    #expect(mountsRead.value == 1)
    files.value["/proc/self/cgroup"] = "0::/b\n"
    #expect(limits.width() == 3)
    #expect(mountsRead.value == 2)
  }

  @Test func `is one when nothing is known`() {
    #expect(limits([:], cpus: nil).width() == 1)
    #expect(version2("/a", ["/a": "800000 100000"], cpus: nil).width() == 1)
  }

  @Test(
    arguments: [
      ("100000 100000\n", 1), ("200000 100000\n", 2), ("250000 100000", 3), ("1000 100000", 1),
      ("150000 100000", 2), ("200001 100000", 3), ("6400000 100000", 64), ("9900000 100000", 64),
      ("25000 10000\n", 3),
    ])
  func `is the quota of version 2, rounded up, and no more than there are`(
    text: String, width: Int
  ) {
    #expect(version2("/a", ["/a": text]).width() == width)
  }

  @Test(
    arguments: [
      "max 100000\n", "max", "", "\n", "nonsense 100000", "0 100000", "-1 100000", "1 0",
    ])
  func `has no limit where version 2 sets none or its text is invalid`(text: String) {
    #expect(version2("/a", ["/a": text]).quota() == nil)
    #expect(version2("/a", ["/a": text]).width() == 64)
  }

  @Test func `is the smallest quota of a group and all above it`() {
    let quotas = [
      "": "3200000 100000", "/a": "400000 100000", "/a/b": "max 100000",
      "/a/b/c": "800000 100000",
    ]
    #expect(version2("/a/b/c", quotas).width() == 4)
    #expect(version2("/a/b/c", quotas.filter { $0.key != "/a" }).width() == 8)
    #expect(version2("/", quotas).width() == 32)
    #expect(version2("/other", quotas).width() == 32)
  }

  @Test(
    arguments: [
      ("200000\n", "100000\n", 2), ("250000", "100000", 3), ("50000", "100000", 1),
      ("-1\n", "100000\n", 64), ("0", "100000", 64), ("100000", "0", 64),
    ])
  func `is the quota of version 1`(quota: String, period: String, width: Int) {
    #expect(version1("/a", ["/a": (quota, period)]).width() == width)
  }

  @Test func `is the smallest quota of version 1 too`() {
    let quotas = ["": ("-1", "100000"), "/a": ("300000", "100000"), "/a/b": ("500000", "50000")]
    #expect(version1("/a/b", quotas).width() == 3)
  }

  @Test func `needs both files of version 1`() {
    var limits = version1("/", ["": ("100000", "100000")])
    let read = limits.read
    limits.read = { $0.hasSuffix("period_us") ? nil : read($0) }
    #expect(limits.width() == 64)
  }

  @Test func `is the smaller of both versions where both are mounted`() {
    let files = [
      "/proc/self/cgroup": "4:cpu,cpuacct:/one\n0::/two\n",
      "/proc/self/mountinfo": Self.mountV1
        + "40 24 0:40 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
      "/sys/fs/cgroup/cpu/one/cpu.cfs_quota_us": "500000",
      "/sys/fs/cgroup/cpu/one/cpu.cfs_period_us": "100000",
      "/sys/fs/cgroup/unified/two/cpu.max": "300000 100000",
    ]
    #expect(limits(files).width() == 3)
  }

  @Test func `is the container's where the mount shows the container's group as its top`() {
    let mount = "30 24 0:26 /docker/77 /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
    let quotas = ["": "200000 100000", "/inner": "100000 100000", "/docker/77": "5 5"]
    #expect(version2("/docker/77", quotas, mount: mount).width() == 2)
    #expect(version2("/docker/77/inner", quotas, mount: mount).width() == 1)
  }

  @Test func `is that of the top where the group lies outside what the mount shows`() {
    let mount = "30 24 0:26 /docker/77 /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
    #expect(version2("/", ["": "200000 100000"], mount: mount).width() == 2)
    #expect(version2("/../88", ["": "200000 100000"]).width() == 2)
  }

  @Test func `does not confuse a group with one whose name is a prefix`() {
    let mount = CPULimits.Mount(point: "/m", root: "/docker/7", isVersion2: true)
    #expect(CPULimits.folders(mount: mount, group: "/docker/7") == ["/m"])
    #expect(CPULimits.folders(mount: mount, group: "/docker/7/a") == ["/m", "/m/a"])
    #expect(CPULimits.folders(mount: mount, group: "/docker/77/a") == ["/m"])
  }

  @Test(arguments: ["/proc/self/cgroup", "/proc/self/mountinfo"])
  func `has no quota where a file is missing`(path: String) {
    var limits = version2("/a", ["/a": "100000 100000"])
    let read = limits.read
    limits.read = { $0 == path ? nil : read($0) }
    #expect(limits.quota() == nil && limits.width() == 64)
  }

  @Test func `comes from mounts of the CPU controller only`() {
    let text =
      Self.mountV1 + Self.mountV2
      + "34 24 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
      + "25 24 0:5 / /proc rw shared:2 - proc proc rw\n"
      + "36 24 0:33 /a/b /mnt rw - cgroup cgroup rw,cpuacct,cpu\n" + "broken line\n\n"
      + "1 2 3 - 5\n"
    #expect(
      CPULimits.controlGroupMounts(text) == [
        CPULimits.Mount(point: "/sys/fs/cgroup/cpu", root: "/", isVersion2: false),
        CPULimits.Mount(point: "/sys/fs/cgroup", root: "/", isVersion2: true),
        CPULimits.Mount(point: "/mnt", root: "/a/b", isVersion2: false),
      ])
  }

  @Test func `finds its group by controller, and by number in version 2`() {
    let text = "12:cpuset:/set\n4:cpuacct,cpu:/one:with:colons\n0::/two\n"
    #expect(CPULimits.group(in: text, version2: false) == "/one:with:colons")
    #expect(CPULimits.group(in: text, version2: true) == "/two")
    #expect(CPULimits.group(in: "1:name=systemd:/x\n", version2: false) == nil)
    #expect(CPULimits.group(in: "1:cpu:/x\nnonsense\n", version2: true) == nil)
    #expect(CPULimits.group(in: "", version2: true) == nil)
  }

  @Test func `of this machine is at least one`() {
    #expect(CPULimits.machine.width() >= 1)
    #expect(CPULimits.machine.read("/proc/self/cgroup") != nil)
  }
}
