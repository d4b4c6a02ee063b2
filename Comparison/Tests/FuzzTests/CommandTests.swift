import FuzzKit
import TestSupport
import Testing

@Suite("Random programs", .serialized) struct RandomProgramTests {
  @Test(arguments: EngineName.allCases)
  func `find nothing`(_ engine: EngineName) {
    let seed = SeededGenerator(for: "random programs").seed
    let result = engine.fuzz("--programs", "\(stressed(2000))", "\(deadlineSeconds)", "\(seed)")
    #expect(result.status == 0, "\(result.output)")
  }
}

@Suite("The command fuzz", .serialized) struct CommandTests {
  private func fuzz(_ arguments: String...) -> ChildResult {
    // Longer than any limit that the tests pass to the command.
    runChild(["\(buildFolder)/fuzz"] + arguments, seconds: 3 * deadlineSeconds)
  }

  @Test func `runs both engines and counts`() {
    let result = fuzz("--programs", "200", "--engine", "both", "\(deadlineSeconds)", "1")
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("ours: 200 programs of seed 1"))
    #expect(result.output.contains("ours: the slowest, program 1:"))
    #expect(result.output.contains("toolchain: 200 programs of seed 1"))
  }

  @Test func `replays a program by number, and one that a report printed`() {
    #expect(fuzz("--replay", "1:3", "--times", "20").output.contains("nothing found in 20 runs"))
    let text = Generator.program(seed: 1, index: 3, capabilities: [.blocksAnywhere]).text
    #expect(
      fuzz("--program", text, "--times", "20").output.contains("nothing found in 20 runs"))
    let broken = fuzz("--program", text, "--fault", "drops-items", "--shrink-seconds", "5")
    #expect(broken.status == 1 && broken.output.contains("submitted and never ran"))
  }

  @Test func `prints the same program from the same seed`() {
    let first = fuzz("--print", "12:5").output
    #expect(first.hasPrefix("import GrandCentral\n"))
    #expect(fuzz("--print", "12:5").output == first)
  }

  @Test func `makes items wait busily in as many programs as asked for`() {
    #expect(!fuzz("--print", "12:5", "--busy", "0").output.contains("Flag()"))
    #expect(fuzz("--print", "12:5", "--busy", "100").output.contains("Flag()"))
    let result = fuzz("--programs", "100", "--busy", "100", "\(deadlineSeconds)", "1")
    #expect(result.status == 0, "\(result.output)")
  }

  @Test func `refuses what it does not know`() {
    #expect(fuzz("--engine", "theirs").status == 2)
    #expect(fuzz("--fault", "none").status == 2)
    #expect(fuzz("--program", "1 2 3").status == 2)
    #expect(fuzz("--busy", "many").status == 2)
    #expect(fuzz("--help").status == 0)
  }
}
