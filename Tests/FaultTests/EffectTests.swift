// The effects of classes on threads as the kernel reports them, in a separate process, with and
// without privilege: see Tests/Probes/FaultProbe/Effects.swift.
// Shows contract row P6.
import TestSupport
import Testing

@Suite("The effects of the classes", .serialized) struct EffectTests {
  @Test(arguments: ["root", "unprivileged", "root:asked-first", "unprivileged:asked-first"])
  func `are on a thread while it runs their work, and not before or after`(_ user: String) {
    run("effects:\(user)")
  }

  @Test(arguments: ["root", "unprivileged"])
  func `that are refused are reported, and work runs`(_ user: String) {
    run("effects:\(user):refused")
  }

  @Test func `can be switched off`() {
    run("effects:unprivileged:off", environment: ["GRANDCENTRAL_EFFECTS": "none"])
  }

  @Test func `do not outlive the privilege that they took`() { run("effects-lost") }

  @Test func `are not inherited from a lowered thread of the program`() {
    run("effects-maker")
  }

  @Test func `reach an item that lasts, behind short ones of alternating classes`() {
    run("effects-alternating")
  }
}
