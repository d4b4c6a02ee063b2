// The help of the command and of its verbs.
import TestSupport
import Testing

@Suite("Usage of grandcentral") struct UsageTests {
  private static let verbs = ["ps", "dump", "run", "top", "record", "report", "timeline"]

  private func grandcentral(_ arguments: String...) -> ChildResult {
    runChild(["\(buildFolder)/grandcentral"] + arguments)
  }

  @Test(arguments: verbs) func `each verb shows its own`(_ verb: String) {
    for option in ["--help", "-h"] {
      let result = grandcentral(verb, option)
      #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
      #expect(result.output.hasPrefix("Usage: grandcentral \(verb)"), "\(result)")
      #expect(result.output.contains("\nExit status:\n  "), "\(result)")
      #expect(result.lines.allSatisfy { $0.count <= 100 }, "\(result)")
    }
  }

  @Test func `that of the command has each verb and each option of theirs`() {
    let all = grandcentral("--help")
    #expect(all.status == 0)
    #expect(all.lines.allSatisfy { $0.count <= 100 }, "\(all)")
    for verb in Self.verbs {
      #expect(all.output.contains("grandcentral \(verb)"), "\(verb)")
      for option in grandcentral(verb, "--help").output.matches(of: /--[a-z-]+/) {
        #expect(all.output.contains(option.output), "\(verb) \(option.output)")
      }
    }
  }

  @Test func `is not that of a program that is run`() {
    let help = runChild(["env", "--help"]).output
    #expect(grandcentral("run", "env", "--help").output == help)
    #expect(grandcentral("run", "--", "env", "--help").output == help)
    #expect(grandcentral("record", "-o", "/dev/null", "--", "env", "--help").output == help)
  }
}
