// The effects of classes on threads as the kernel reports them, in a separate process, with and
// without privilege: see Tests/Probes/FaultProbe/Effects.swift.
import TestSupport
import Testing

@Suite("The effects of the classes", .serialized) struct EffectTests {
  @Test(arguments: ["root", "nobody", "root:asked-first", "nobody:asked-first"])
  func `are on a thread while it runs their work, and not before or after`(_ who: String) {
    run("effects:\(who)")
  }

  @Test(arguments: ["root", "nobody"])
  func `that are refused are told, and work runs`(_ who: String) {
    run("effects:\(who):refused")
  }

  @Test func `can be switched off`() {
    run("effects:nobody:off", environment: ["GRANDCENTRAL_EFFECTS": "none"])
  }

  @Test func `do not outlive the privilege that they took`() { run("effects-lost") }

  @Test func `and a lowered thread of the program's make no lowered workers`() {
    run("effects-maker")
  }
}
