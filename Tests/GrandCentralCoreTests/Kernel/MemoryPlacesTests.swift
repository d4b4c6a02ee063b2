// Memory limits of simulated machines, whose files are strings: proc(5), cgroups(7), psi.rst.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("What the kernel says of memory") struct MemoryPlacesTests {
  private func kernel(_ files: [String: String]) -> MemoryKernel {
    MemoryKernel(read: { files[$0] }, open: { _ in -ENOENT })
  }

  private static let stalls =
    "some avg10=1.00 avg60=0.00 avg300=0.00 total=300\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=200\n"

  private static let version2 = [
    "/proc/self/cgroup": "0::/a/b\n",
    "/proc/self/mountinfo": "30 24 0:26 / /cg rw shared:4 - cgroup2 cgroup2 rw\n",
    "/proc/pressure/memory": stalls,
    "/cg/a/b/memory.pressure": stalls,
    "/cg/a/memory.max": "1000\n", "/cg/a/memory.current": "900\n",
    "/cg/a/memory.stat": "anon 1\ninactive_file 400\n",
    "/cg/a/b/memory.max": "max\n", "/cg/a/b/memory.high": "100\n",
    "/cg/a/b/memory.current": "70\n",
    "/cg/a/b/memory.events": "low 0\nhigh 5\nmax 3\noom 1\noom_kill 2\noom_group_kill 0\n",
  ]

  private static let version1 = [
    "/proc/self/cgroup": "4:memory:/g\n3:cpu:/x\n0::/\n",
    "/proc/self/mountinfo":
      "30 24 0:26 / /cg/memory rw - cgroup cgroup rw,memory\n31 24 0:27 / /cg/cpu rw - cgroup cgroup rw,cpu\n",
    "/proc/pressure/memory": stalls,
    "/cg/memory/memory.limit_in_bytes": "9223372036854771712\n",
    "/cg/memory/memory.usage_in_bytes": "5000\n",
    "/cg/memory/g/memory.limit_in_bytes": "1000\n",
    "/cg/memory/g/memory.usage_in_bytes": "950\n",
    "/cg/memory/g/memory.stat": "inactive_file 1\ntotal_inactive_file 50\n",
    "/cg/memory/g/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n",
  ]

  @Test func `is read from groups of version 2, less what can be reclaimed at once`() {
    let kernel = kernel(Self.version2)
    let places = MemoryPlaces.find(kernel)
    #expect(places.groups.map { $0.folder } == ["/cg", "/cg/a", "/cg/a/b"])
    #expect(places.pressureFile == "/cg/a/b/memory.pressure")
    #expect(
      places.triggers(kernel) == [
        .stall("/cg/a/b/memory.pressure", .warning), .stall("/cg/a/b/memory.pressure", .critical),
        .change("/cg/a/b/memory.events"),
      ])
    #expect(places.sample(kernel) == MemorySample(some: 300, full: 200, usage: 0.7, kills: 2))
  }

  @Test func `is read from groups of version 1`() {
    let kernel = kernel(Self.version1)
    let places = MemoryPlaces.find(kernel)
    #expect(places.groups.map { $0.folder } == ["/cg/memory", "/cg/memory/g"])
    #expect(places.pressureFile == "/proc/pressure/memory")
    #expect(
      places.triggers(kernel) == [
        .stall("/proc/pressure/memory", .warning), .stall("/proc/pressure/memory", .critical),
        .reclaim("/cg/memory/g", .warning), .reclaim("/cg/memory/g", .critical),
        .crossing("/cg/memory/g", bytes: 850), .crossing("/cg/memory/g", bytes: 950),
      ])
    #expect(places.sample(kernel) == MemorySample(some: 300, full: 200, usage: 0.9, kills: 7))
  }

  @Test func `is nothing where the kernel says nothing`() {
    let kernel = kernel([:])
    let places = MemoryPlaces.find(kernel)
    #expect(places == MemoryPlaces() && places.triggers(kernel).isEmpty)
    #expect(places.sample(kernel) == MemorySample())
    #expect(MemoryPlaces.stalled("some", in: "some avg10=0.00\n") == nil)
    #expect(MemoryPlaces.stalled("full", in: Self.stalls) == 200)
    #expect(MemoryPlaces.number("oom", in: "oom_kill 2\noom 1\n") == 1)
  }

  @Test func `is watched with windows that need no privilege`() {
    #expect(MemoryTrigger.stall("f", .warning).request == "some 200000 2000000")
    #expect(MemoryTrigger.stall("f", .critical).request == "full 200000 2000000")
    #expect(MemoryTrigger.reclaim("f", .warning).request == "medium")
    #expect(MemoryTrigger.reclaim("f", .critical).request == "critical")
    #expect(MemoryTrigger.crossing("f", bytes: 5).request == "5")
    #expect(MemoryTrigger.crossing("f", bytes: 5).readiness == .readable)
    #expect(MemoryTrigger.crossing("f", bytes: 5).level == .normal)
    #expect(MemoryTrigger.stall("f", .warning).readiness == .priority)
    #expect(MemoryTrigger.reclaim("f", .warning).readiness == .readable)
    #expect(MemoryTrigger.change("f").level == .normal)
  }

  @Test func `is watched on this machine, or refused with an errno`() {
    for trigger in MemoryPlaces.find(.machine).triggers(.machine) {
      let descriptor = trigger.makeDescriptor()
      print("\(trigger): \(descriptor)")
      #expect(descriptor >= 0 || -descriptor < 200)
      if descriptor >= 0 { close(descriptor) }
    }
    let folder = ScratchFolder()
    #expect(MemoryTrigger.stall(folder["none"], .warning).makeDescriptor() == -ENOENT)
    #expect(MemoryTrigger.change(folder["none"]).makeDescriptor() == -ENOENT)
    #expect(MemoryTrigger.reclaim(folder.path, .warning).makeDescriptor() == -ENOENT)
  }

  @Test func `is watched through files in their own formats`() {
    let folder = ScratchFolder()
    close(folder.file("stalls"))
    let stall = MemoryTrigger.stall(folder["stalls"], .critical).makeDescriptor()
    #expect(stall >= 0)
    #expect(contents(of: folder["stalls"]) == "full 200000 2000000\0")
    close(stall)
    close(folder.file("memory.pressure_level"))
    close(folder.file("cgroup.event_control"))
    let reclaim = MemoryTrigger.reclaim(folder.path, .warning).makeDescriptor()
    #expect(reclaim >= 0)
    let line = contents(of: folder["cgroup.event_control"]) ?? ""
    #expect(line.hasPrefix("\(reclaim) ") && line.hasSuffix(" medium\0"))
    close(reclaim)
  }
}

@Suite("The level of memory pressure") struct MemoryLevelTests {
  private let second: UInt64 = 1_000_000_000

  /// The next level after two seconds in which `some` and `full` were the shares of stalled time.
  private func next(
    _ level: MemoryLevel, some: Double = 0, full: Double = 0, usage: Double? = nil,
    kills: UInt64 = 0, nanoseconds: UInt64 = 2_000_000_000
  ) -> MemoryLevel {
    let microseconds = Double(nanoseconds) / 1000
    return level.next(
      from: MemorySample(some: 1000, full: 1000, usage: nil, kills: 0),
      to: MemorySample(
        some: 1000 + UInt64(some * microseconds), full: 1000 + UInt64(full * microseconds),
        usage: usage, kills: kills),
      nanoseconds: nanoseconds)
  }

  @Test(
    arguments: [
      (0, 0, nil, .normal), (0.09, 0, nil, .normal), (0.11, 0, nil, .warning),
      (0.11, 0.09, nil, .warning), (0.2, 0.11, nil, .critical), (0, 0, 0.84, .normal),
      (0, 0, 0.85, .warning), (0, 0, 0.94, .warning), (0, 0, 0.95, .critical),
      (0, 0, 1.2, .critical), (0.11, 0, 0.96, .critical),
    ] as [(Double, Double, Double?, MemoryLevel)])
  func `rises with stalls and use`(
    some: Double, full: Double, usage: Double?, level: MemoryLevel
  ) {
    #expect(next(.normal, some: some, full: full, usage: usage) == level)
  }

  @Test(
    arguments: [
      (.warning, 0.06, 0, nil, .warning), (.warning, 0.04, 0, nil, .normal),
      (.warning, 0, 0, 0.81, .warning), (.warning, 0, 0, 0.79, .normal),
      (.critical, 0.2, 0.06, nil, .critical), (.critical, 0.2, 0.04, nil, .warning),
      (.critical, 0, 0, 0.91, .critical), (.critical, 0, 0, 0.89, .warning),
      (.critical, 0.06, 0, nil, .warning), (.critical, 0, 0, nil, .normal),
    ] as [(MemoryLevel, Double, Double, Double?, MemoryLevel)])
  func `falls when usage is clearly lower`(
    before: MemoryLevel, some: Double, full: Double, usage: Double?, level: MemoryLevel
  ) {
    #expect(next(before, some: some, full: full, usage: usage) == level)
  }

  @Test func `is critical when a process was killed`() {
    #expect(next(.normal, kills: 1) == .critical)
    #expect(next(.normal, kills: 1, nanoseconds: 1) == .critical)
  }

  @Test func `does not change by stalls of a moment`() {
    #expect(next(.normal, some: 1, full: 1, nanoseconds: second / 2) == .normal)
    #expect(next(.warning, nanoseconds: second / 2) == .warning)
    #expect(next(.normal, usage: 0.9, nanoseconds: 0) == .warning)
    // The counters restarted at zero.
    let much = MemorySample(some: 5000, full: 5000)
    #expect(
      MemoryLevel.normal.next(
        from: much, to: MemorySample(some: 1, full: 1), nanoseconds: second) == .normal)
  }
}
