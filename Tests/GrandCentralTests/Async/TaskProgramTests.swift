// Programs of tasks, queues, sources and channels, each in a process of its own: see
// Tests/Probes/TaskProbe.
import TestSupport
import Testing

@Suite("A program of tasks", .timeLimit(.minutes(30))) struct TaskProgramTests {
  private func expect(
    _ scenario: String, _ sizes: [Int] = [], says expected: [String: String],
    launcher: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let result = runProbe(
      "TaskProbe", scenario, sizes.map(String.init), launcher: launcher,
      seconds: 10 * deadlineSeconds)
    #expect(
      result.status == 0 && result.errors.isEmpty, "\(result)", sourceLocation: sourceLocation)
    for (name, value) in expected {
      #expect(result.value(name) == value, "\(name): \(result)", sourceLocation: sourceLocation)
    }
  }

  @Test func `with actors on queues of all classes runs every job once`() {
    let count = stressed(2_000)
    expect(
      "jobs", [count],
      says: ["stored": "\(count)", "overlapped": "false", "audited": "\(count)"])
  }

  @Test func `serves clients on readiness and channels until it is cancelled`() {
    expect("chat", [8, stressed(20)], says: ["clients": "8", "deaf": "0", "ended": "true"])
  }

  @Test func `starts children again until they succeed`() {
    expect(
      "supervisor", [stressed(20)], says: ["starts": "3", "alive": "true", "reaped": "true"])
  }

  @Test func `ends whatever waits when a deadline passes`() {
    let count = (stressed(1_000) + 9) / 10 * 10
    expect("deadlines", [count], says: ["inTime": "\(count)", "late": "\(count / 10 * 4)"])
  }

  @Test func `leaves sequences in the middle and loses nothing`() {
    let count = "\(stressed(200))"
    expect(
      "abandoned", [stressed(200)], says: ["lines": count, "chunks": count, "ticks": count])
  }

  @Test func `cancels reads while bytes arrive and loses none`() {
    expect(
      "arriving", [stressed(3_000)], says: ["read": "true", "wrong": "0", "joined": "true"])
  }

  @Test func `that is cancelled before it enters a scope receives nothing`() {
    expect("cancelled-before", [stressed(50)], says: ["ended": "true", "left": "10"])
  }

  @Test func `ends actors on their queues`() {
    expect("isolated-deinit", [stressed(500)], says: ["onQueue": "true", "elsewhere": "0"])
  }

  @Test func `runs a task for which four times as many tasks as CPUs block`() {
    expect("blocked", says: ["blocked": "true"])
  }

  @Test(
    .enabled(
      if: QuotaGroup.isWritable(.cpu), "needs a writable control group of version 1, and root"))
  func `runs one task of a class at a time under a quota of one CPU`() throws {
    let group = try #require(QuotaGroup(.cpu, "crowd"))
    defer { group.remove() }
    #expect(group.setQuota(percent: 100))
    expect("crowd", says: ["most": "1"], launcher: group.launcher)
  }

  @Test(.enabled(if: !isSanitized, "a sanitizer delays the reuse of memory"))
  func `has its memory back after sleeps that were cancelled`() throws {
    let result = runProbe(
      "TaskProbe", "sleeps", ["\(max(100_000, stressed(100_000)))"],
      seconds: 20 * deadlineSeconds)
    #expect(result.status == 0, "\(result)")
    // A sleep that stayed would keep 255 bytes and more: 25 MB of them, beside 16 to 20 MB. Other
    // load brings more threads than before, with stacks and caches: 4 MB.
    let before = try #require(result.number("residentBefore"))
    let after = try #require(result.number("residentAfter"))
    #expect((after - (4 << 20)) * 10 <= before * 11, "\(result)")
  }
}
