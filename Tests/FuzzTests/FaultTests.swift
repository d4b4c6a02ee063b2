import FuzzKit
import TestSupport
import Testing

/// That every promise, when it is broken, is seen to be broken.
@Suite("An injected fault", .serialized) struct FaultTests {
  @Test(arguments: Fault.allCases, EngineName.allCases)
  func `is caught`(_ fault: Fault, _ engine: EngineName) {
    // What an engine cannot do, nobody can break for it.
    guard engine.capabilities.isSuperset(of: fault.needs) else { return }
    let result = engine.fuzz(
      "--programs", "5000", "60", "7", "--fault", fault.rawValue, "--hang-seconds", "2",
      "--shrink-seconds", "0")
    #expect(result.status == 1, "\(result.output)")
    print(result.lines.first { $0.contains("program 7:") } ?? "nothing found", fault.rawValue)
    #expect(
      fault.breaks.contains { result.output.contains("Broken: \($0.rawValue).") },
      "\(result.output)")
  }

  @Test(arguments: [Fault.swapsOrder, .hangs, .crashes])
  func `is shrunk to a program that can be replayed`(_ fault: Fault) throws {
    let result = EngineName.ours.fuzz(
      "--programs", "5000", "60", "7", "--fault", fault.rawValue, "--hang-seconds", "1",
      "--shrink-seconds", "10", "--times", "200")
    #expect(result.status == 1)
    #expect(result.output.contains("Shrunk from"), "\(result.output)")
    #expect(result.output.contains("\nimport GrandCentral\n"))
    #expect(
      result.output.contains("Replay: scripts/fuzz.sh --engine ours --fault \(fault.rawValue)"))
    let line = try #require(result.lines.last { $0.hasPrefix("Replay the small one:") })
    let text = try #require(line.split(separator: "'").dropFirst().first)
    #expect(try #require(Program(text: text)).allOps.count <= 6)
    let again = EngineName.ours.fuzz(
      "--program", String(text), "--fault", fault.rawValue, "--hang-seconds", "1",
      "--shrink-seconds", "0")
    #expect(again.status == 1, "\(again.output)")
  }
}
