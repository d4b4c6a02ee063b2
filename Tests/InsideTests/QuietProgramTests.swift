// What the command says of programs in which no thread waits: groups that are awaited without one,
// and sources that have no work now.
import TestSupport
import Testing

@Suite("grandcentral dump of a quiet program") struct QuietProgramTests {
  @Test func `names what waits for a group without a thread`() {
    let probe = HangingProbe("notified-group")
    let line = "Possibly stuck: 1 notification waits for a group that has members, and no thread"
    let result = dump(probe, until: line)
    #expect(result.output.hasPrefix(line), "\(result)")
    #expect(result.status == 0)
  }

  @Test func `mentions a task that waits for a group`() {
    let probe = HangingProbe("awaited-group")
    // The headline depends on what the queues of the Concurrency runtime wait for.
    let line = "1 notification waits for a group that has members"
    let result = dump(probe, untilItSays: line)
    #expect(result.output.contains(line) && result.status == 0, "\(result)")
  }

  @Test func `mentions what waits for a group beside a timer`() {
    let probe = HangingProbe("notified-group-beside-timer")
    let idle = "Nothing is stuck.\n  The board shows no work, and no thread waits."
    let result = dump(probe, until: idle)
    #expect(result.output.hasPrefix(idle), "\(result)")
    #expect(result.output.contains("\n  1 notification waits for a group that has members: "))
    #expect(result.status == 0)
  }

  @Test func `forgets what no longer waits for a group`() {
    let probe = HangingProbe("left-groups")
    let idle = "Nothing is stuck.\n  The board has shown no work for "
    let result = dump(probe, until: idle)
    #expect(result.output.hasPrefix(idle), "\(result)")
    #expect(!result.output.contains("notification"), "\(result)")
  }

  @Test(arguments: ["timer-on-main", "source-on-main", "timer-on-queue"])
  func `sees a program that has sources and no other work`(_ scene: String) {
    let probe = HangingProbe(scene)
    let result = dump(probe, until: "Nothing is stuck.")
    #expect(result.output.hasPrefix("Nothing is stuck."), "\(result)")
    #expect(result.status == 0)
    let listed = runChild(["\(buildFolder)/grandcentral", "ps"]).lines
    #expect(listed.contains { $0.hasSuffix(" \(probe.process)  HangProbe") }, "\(listed)")
    let table = runChild([
      "\(buildFolder)/grandcentral", "top", "\(probe.process)", "--once", "--interval", "0.1",
    ])
    #expect(table.status == 0 && table.output.hasPrefix("Nothing is stuck.\n"), "\(table)")
  }
}
