import FuzzKit
import TestSupport
import Testing

/// Checks that the fuzzer detects each broken promise.
@Suite("An injected fault", .serialized) struct FaultTests {
  @Test(arguments: Fault.allCases, EngineName.allCases)
  func `is caught`(_ fault: Fault, _ engine: EngineName) {
    // A fault needs an engine that can do what the fault breaks.
    guard engine.capabilities.isSuperset(of: fault.needs) else { return }
    let result = engine.fuzz(
      "--programs", "5000", "\(deadlineSeconds)", "7", "--fault", fault.rawValue,
      // Only hanging faults get a short limit, so that a busy machine makes no other fault a hang.
      "--hang-seconds", fault.breaks.contains(.everythingEnds) ? "2" : "20",
      "--shrink-seconds", "0")
    #expect(result.status == 1, "\(result.output)")
    print(result.lines.first { $0.contains("program 7:") } ?? "nothing found", fault.rawValue)
    #expect(
      fault.breaks.contains { result.output.contains("Broken: \($0.rawValue).") },
      "\(result.output)")
  }

  @Test(arguments: [Fault.swapsOrder, .hangs, .crashes])
  func `is shrunk to a program that can be replayed`(_ fault: Fault) throws {
    let broken = [
      "--fault", fault.rawValue,
      "--hang-seconds", fault.breaks.contains(.everythingEnds) ? "1" : "20",
    ]
    let search = ["--programs", "5000", "--times", "200", "\(deadlineSeconds)", "7"]
    let result = EngineName.ours.fuzz(search + ["--shrink-seconds", "150"] + broken)
    #expect(result.status == 1)
    #expect(result.output.contains("Shrunk from"), "\(result.output)")
    #expect(result.output.contains("\nimport GrandCentral\n"))
    #expect(
      result.output.contains("Replay: scripts/dev fuzz --engine ours --fault \(fault.rawValue)"))
    let line = try #require(result.lines.last { $0.hasPrefix("Replay the small one:") })
    let text = try #require(line.split(separator: "'").dropFirst().first)
    #expect(try #require(Program(text: text)).allOps.count <= 6)
    let again = EngineName.ours.fuzz(
      ["--program", String(text), "--shrink-seconds", "0"] + broken)
    #expect(again.status == 1, "\(again.output)")
  }

  @Test func `that keeps items of a meeting from starting is shrunk and replayed`() throws {
    let engine = EngineName.ours
    let busy = program(
      QueueSpec(.serial), QueueSpec(.serial), QueueSpec(.serial), QueueSpec(.serial),
      do: [async(0), meeting(10, on: 0, 1, 2, 3, by: Polling(.yield)), async(5, on: 1), sync(6)])
    let broken = ["--fault", Fault.keepsWidth.rawValue, "--hang-seconds", "2"]
    // Short, because each run that hangs takes seconds: the test needs no smaller program.
    let result = engine.fuzz(
      ["--program", busy.text, "--shrink-seconds", "10", "--times", "50"] + broken)
    #expect(result.status == 1)
    #expect(result.output.contains("Shrunk from 4 steps to"), "\(result.output)")
    #expect(result.output.contains("has not started"), "\(result.output)")
    #expect(result.output.contains("\nThreads:\n"))
    let line = try #require(result.lines.last { $0.hasPrefix("Replay the small one:") })
    let text = try #require(line.split(separator: "'").dropFirst().first)
    let small = try #require(Program(text: text))
    #expect(small.allOps.contains { if case .meeting = $0 { true } else { false } })
    let again = engine.fuzz(["--program", String(text), "--shrink-seconds", "0"] + broken)
    #expect(again.status == 1, "\(again.output)")
    let whole = engine.fuzz("--program", busy.text, "--times", "20")
    #expect(whole.status == 0, "\(whole.output)")
  }
}
