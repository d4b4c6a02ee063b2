import Glibc
import TestSupport
import Testing

/// The command on a C program that hangs on the drop-in library.
@Suite("grandcentral on the drop-in library") struct HangTests {
  @Test(arguments: [
    (
      "group",
      "Suspected deadlock: 1 thread waits for queue 'first', whose item waits for a group"
    ),
    ("kernel", "Queue 'first' is stuck behind one item: 1 thread waits for it."),
    ("explosion", "Thread explosion: 80 threads are held by items that wait."),
    ("resume", "Forgotten resume: queue 'first' is suspended since"),
    ("leave", "Suspected forgotten leave: 1 thread waits for a group, and no thread has"),
    ("healthy", "Nothing is stuck."),
  ])
  func `names the hang of a C program first`(_ scene: String, _ line: String) throws {
    let client = try Client(c: "Hangs.c", compiler: "gcc")
    var input: [Int32] = [0, 0]
    var output: [Int32] = [0, 0]
    _ = pipe(&input)
    _ = pipe(&output)
    for descriptor in [input[1], output[0]] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    let process = startChild(
      ["env", "LD_LIBRARY_PATH=\(try DropIn.folder())", client.path, scene], input: input[0],
      output: output[1])
    close(input[0])
    close(output[1])
    defer {
      // The program ends with its input.
      close(input[1])
      close(output[0])
      kill(process, SIGKILL)
      _ = waitFor(process)
    }
    var ready: [UInt8] = [0, 0, 0, 0, 0, 0]
    #expect(read(output[0], &ready, 6) == 6)
    // Its threads get to their waits soon after.
    var result = dump(process)
    for _ in 0..<patienceSeconds * 20 where !result.output.hasPrefix(line) {
      usleep(50_000)
      result = dump(process)
    }
    #expect(result.output.hasPrefix(line), "\(result)")
    #expect(result.status == (scene == "healthy" ? 0 : 1))
  }

  private func dump(_ process: pid_t) -> ChildResult {
    runChild(["\(buildFolder)/grandcentral", "dump", String(process), "--stuck-after", "0"])
  }
}
