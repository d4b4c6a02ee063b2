// The package trait ExecutorFactory: queues as the executors of programs whose main function is
// `async`. The sources of module GrandCentral are compiled with the trait into a program, beside
// the engine of this build.
import Foundation
import TestSupport
import Testing

/// The flags by which the compiler finds the modules of this build.
let modules = ["-I", buildFolder + "/Modules", "-I", packageFolder + "/Sources/CLinux/include"]

private func files(of folder: String, _ suffix: String) throws -> [String] {
  let all = try #require(FileManager.default.enumerator(atPath: folder))
  return all.compactMap { $0 as? String }
    .filter { $0.hasSuffix(suffix) && !$0.contains(".docc/") }.map { "\(folder)/\($0)" }
}

/// The name under which the modules of this build share what is `package`.
private func packageName() throws -> String {
  let found = runChild([
    "grep", "-ohm1", "\"-package-name\",\"[^\"]*\"", buildFolder + "/../../debug.yaml",
  ])
  let name = found.output.split(separator: "\"").dropFirst(2).first
  return String(try #require(name, "\(found)"))
}

@Suite(
  "A program with the package trait ExecutorFactory",
  .enabled(if: !isSanitized, "compiles without the sanitizer"), .timeLimit(.minutes(30)))
struct ExecutorFactoryTests {
  private func run(_ program: String, flags: [String] = []) throws -> ChildResult {
    let scratch = ScratchFolder()
    let programs = packageFolder + "/Tests/ParityTests/Programs"
    var command = ["swiftc", "-swift-version", "6", "-warnings-as-errors", "-parse-as-library"]
    command += ["-module-name", "program", "-package-name", try packageName()]
    command += ["-D", "ExecutorFactory"] + modules + flags
    command += try files(of: packageFolder + "/Sources/GrandCentral", ".swift")
    command += ["\(programs)/Checks.swift", "\(programs)/\(program)"]
    let engine = [
      "GrandCentralBoard", "GrandCentralCore", "GrandCentralPrimitives", "CGrandCentralLinux",
    ]
    for module in engine {
      command += try files(of: "\(buildFolder)/\(module).build", ".o")
    }
    command.append("-lBlocksRuntime")
    let built = runChild(command + ["-o", scratch["program"]], seconds: max(900, deadlineSeconds))
    try #require(built.status == 0, "\(built.errors)")
    return runChild([scratch["program"]], environment: ["SWIFT_BACKTRACE": "enable=no"])
  }

  private func expect(_ result: ChildResult) {
    #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
    #expect(
      result.lines == [
        "global=true", "main=true", "cancelled=true", "sleeps=500500", "actor=100", "sets=1",
      ], "\(result)")
  }

  @Test func `runs wholly on queues, sleeps too, from its async main function on`() throws {
    expect(try run("AsyncMain.swift", flags: ["-Xfrontend", "-disable-availability-checking"]))
  }

  @Test func `runs wholly on queues, sleeps too, once it has taken Concurrency over`() throws {
    expect(try run("SyncMain.swift"))
  }
}
