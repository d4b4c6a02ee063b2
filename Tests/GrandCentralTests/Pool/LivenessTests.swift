// Runnable work starts, whatever else runs. The tests run Tests/Probes/PoolProbe in child
// processes; if a probe's work never starts, its child never ends.
// Shows contract rows T3 and T4.
import TestSupport
import Testing

@Suite("Work that waits behind items that do not end", .serialized) struct LivenessTests {
  private func expectToBegin(
    _ hog: String, on hogs: String, _ count: Int, probe: String,
    environment: [String: String] = [:], launcher: [String] = [],
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let result = runProbe(
      "PoolProbe", "liveness", [hog, hogs, "\(count)", probe], environment: environment,
      launcher: launcher, seconds: 2 * deadlineSeconds)
    #expect(
      result.value("began") == "true", "\(result.output)\(result.errors)",
      sourceLocation: sourceLocation)
  }

  @Test(
    arguments: ["compute", "yield", "poll"],
    ["serial", "concurrent", "global", "background", "main"])
  func `begins beside serial queues`(_ hog: String, probe: String) {
    expectToBegin(hog, on: "serial", 16, probe: probe)
  }

  @Test(arguments: ["compute", "poll"], ["serial", "concurrent", "global", "main"])
  func `begins beside a concurrent queue`(_ hog: String, probe: String) {
    expectToBegin(hog, on: "concurrent", 4, probe: probe)
  }

  @Test(arguments: ["serial", "global"], ["serial", "concurrent", "global", "background"])
  func `begins on one CPU`(hogs: String, probe: String) {
    expectToBegin(
      "compute", on: hogs, 3, probe: probe, launcher: ["taskset", "-c", "\(firstAllowedCPU())"])
  }

  @Test(arguments: ["serial", "global"], ["serial", "concurrent", "global", "background"])
  func `begins with a width of one`(hogs: String, probe: String) {
    expectToBegin(
      "compute", on: hogs, 3, probe: probe, environment: ["GRANDCENTRAL_WIDTH": "1"])
  }

  @Test(
    arguments: ["spin", "fault", "read", "stop"], ["serial", "concurrent", "global", "background"])
  func `begins beside items that spin, fault, read or are stopped`(_ hog: String, probe: String) {
    expectToBegin(hog, on: "serial", 6, probe: probe)
    expectToBegin(hog, on: "global", 3, probe: probe)
  }

  @Test(
    arguments: ["interactive", "initiated", "utility", "background"],
    ["serial", "global", "interactive", "initiated", "utility", "background"])
  func `begins beside global queues of every class`(hogs: String, probe: String) {
    expectToBegin("compute", on: hogs, 3, probe: probe)
  }

  @Test(
    .enabled(
      if: QuotaGroup.isWritable(.cpu), "needs a writable control group of version 1, and root"),
    arguments: ["serial", "concurrent", "global"])
  func `begins under a quota`(hogs: String) throws {
    let group = try #require(QuotaGroup(.cpu, "liveness-\(hogs)"))
    defer { group.remove() }
    #expect(group.setQuota(percent: 50))
    for probe in ["serial", "concurrent", "global", "background"] {
      expectToBegin("compute", on: hogs, 3, probe: probe, launcher: group.launcher)
    }
  }

  @Test func `leaves its threads when the items have ended`() throws {
    let result = runProbe("PoolProbe", "pollers-leave", seconds: 2 * deadlineSeconds)
    #expect(try #require(result.number("busy")) >= 32)
    #expect(try #require(result.number("idle")) <= 4)
  }

  @Test func `keeps a thousand items of 60 ms to the width`() throws {
    let result = runProbe(
      "PoolProbe", "explosion", environment: ["GRANDCENTRAL_WIDTH": "2"],
      seconds: 2 * deadlineSeconds)
    // On a loaded machine the kernel may make a computing thread sleep for a moment (a page, a lock
    // of the pool), and another item begins then. With a pool that grows, most items begin beyond.
    let begun = try #require(result.number("begun"))
    #expect(begun >= 40)
    #expect(
      try #require(result.number("beyond")) <= begun / 8, "\(result.output)\(result.errors)")
  }
}
