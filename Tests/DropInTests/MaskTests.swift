// The signal masks of the engine's threads and of children on the drop-in: contract rows T5, S8.
import Foundation
import TestSupport
import Testing

@Suite("On the drop-in library, signals", .serialized) struct MaskTests {
  /// The mask of a program that blocks SIGUSR2, as /proc shows it.
  private let programs = "0000000000000800"

  /// Starts children.
  private func parent() throws -> Client {
    try Client(c: "Masks.c", compiler: "clang", flags: ["-Wall", "-Wextra", "-Werror"])
  }

  private func receiver() throws -> Client {
    try Client(c: "Signals.c", compiler: "clang", flags: ["-Wall", "-Wextra", "-Werror"])
  }

  /// Makes the library that prints the mask of a program that loads it.
  private static func makeReport(in scratch: ScratchFolder) throws -> String {
    let report = scratch["report.so"]
    try DropIn.run(["clang", "-shared", "-fPIC", Client.source("MaskReport.c"), "-o", report])
    return report
  }

  /// Before, the kernel chose a worker that was older than the program's block.
  @Test func `reach the program's own threads beside busy workers`() throws {
    let receiver = try receiver()
    for way in ["sigwait", "thread", "signalfd"] {
      let ours = try receiver.runOnOurs([way])
      #expect(ours.lines == ["received=200"], "\(way): \(ours)")
    }
    let handler = try receiver.runOnOurs(["handler"])
    #expect(handler.lines == ["received=200 elsewhere=0"], "\(handler)")
  }

  @Test(arguments: ["LD_LIBRARY_PATH", "LD_PRELOAD"])
  func `that the program blocks are those that children of items block`(
    _ variable: String
  ) throws {
    let parent = try parent()
    let scratch = ScratchFolder()
    let report = try Self.makeReport(in: scratch)
    let folder = try DropIn.folder()
    let value = variable == "LD_PRELOAD" ? "\(folder)/libdispatch.so" : folder
    for place in ["global", "serial", "timer", "main"] {
      let ours = runChild(
        [parent.path, place, report], environment: [variable: value], seconds: DropIn.seconds)
      #expect(ours.status == 0, "\(place): \(ours)")
      var masks: [String: String] = [:]
      for line in ours.lines {
        let parts = line.components(separatedBy: " SigBlk:\t")
        if parts.count == 2 { masks[parts[0]] = parts[1] }
      }
      #expect(masks.count == 20, "\(place): \(ours)")
      #expect(masks.removeValue(forKey: "chosen") == "0000000000000002", "\(place)")
      // With SIGPIPE, which the item blocked.
      #expect(masks.removeValue(forKey: "one blocked") == "0000000000001800", "\(place)")
      let all = masks.removeValue(forKey: "all blocked")
      #expect(all.flatMap { UInt64($0, radix: 16) }.map { $0 > 1 << 63 } == true, "\(place)")
      let own = masks.removeValue(forKey: "thread").flatMap { UInt64($0, radix: 16) }
      #expect(own.map { $0 >> 14 & 1 == (place == "main" ? 0 : 1) } == true, "SIGTERM at \(place)")
      #expect(masks.allSatisfy { $0.value == programs }, "\(place): \(masks)")
    }
  }

  @Test func `that the program blocks are those that a program blocks which an item executes`()
    throws
  {
    let ours = try parent().runOnOurs(["exec"])
    #expect(ours.lines == ["exec SigBlk:\t\(programs)"], "\(ours)")
  }

  /// Before, the engine opened what the thread that made its first thread had blocked.
  @Test func `that are pending do not end the thread that submits the first item`() throws {
    let ours = try parent().runOnOurs(["pending"])
    #expect(ours.lines == ["pending=1"], "\(ours)")
    #expect(ours.status == 0, "\(ours)")
  }

  @Test func `that an item blocks and raises are pending`() throws {
    let ours = try parent().runOnOurs(["raise"])
    #expect(ours.lines == ["pending=1"], "\(ours)")
  }

  /// Before, the worker left open what the program did while a command ran.
  @Test func `reach the program's own threads beside an item in system()`() throws {
    let ours = try receiver().runOnOurs(["system"])
    #expect(ours.lines == ["status=3 shell=1 missing=127", "received=200"], "\(ours)")
  }

  /// There, no function of the C library can be found at run time.
  @Test func `that the program blocks are those that children block in a static program`() throws {
    let scratch = ScratchFolder()
    let engine = "\(DropIn.packageFolder)/Sources/CLinux"
    try DropIn.run([
      "clang", "-static", "-Wall", "-Wextra", "-Werror", "-I\(engine)/include",
      Client.source("StaticMasks.c"), "\(engine)/Masks.c", "\(engine)/Children.c",
      "-o", scratch["client"],
    ])
    let report = try Self.makeReport(in: scratch)
    let ours = runChild([scratch["client"], report], seconds: DropIn.seconds)
    let names = [
      "posix_spawn", "posix_spawnp", "system", "popen", "execve", "execvp", "execl", "fexecve",
      "execveat",
    ]
    #expect(ours.lines == names.map { "\($0) SigBlk:\t\(programs)" } + ["missing=2"], "\(ours)")
  }

  @Test func `that the program blocks are those that children of Foundation block`() throws {
    let client = try Client(swift: "Children.swift", flags: ["-parse-as-library"])
    let ours = try client.runOnOurs()
    #expect(ours.lines == ["item=\(programs)", "task=\(programs)"], "\(ours)")
  }

  @Test func `are counted by sources though all threads of the program block them`() throws {
    let receiver = try receiver()
    for way in ["source", "source-without-main", "source-in-child"] {
      let ours = try receiver.runOnOurs([way])
      #expect(ours.lines == ["counted=200"], "\(way): \(ours)")
    }
  }

  @Test func `are the program's own again after the cancel handler of their source`() throws {
    let ours = try receiver().runOnOurs(["after-sources"])
    #expect(ours.lines == ["received=200 counted=0"], "\(ours)")
  }

  @Test func `end a program whose main thread has ended`() throws {
    let receiver = try receiver()
    let ours = try receiver.runOnOurs(["end-without-main"])
    #expect(ours.signal == SIGTERM, "\(ours)")
    // The engine's thread for that does not keep a program alive that has not used queues.
    let last = try receiver.runOnOurs(["last-thread"])
    #expect(last.status == 0, "\(last)")
  }
}
