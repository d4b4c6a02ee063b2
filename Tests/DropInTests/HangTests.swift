import Glibc
import TestSupport
import Testing

private let scenes = [
  ("deadlock", "Deadlock: 2 threads wait for each other."),
  (
    "group",
    "Suspected deadlock: 1 thread waits for queue 'first', whose item waits for a group"
  ),
  ("kernel", "Queue 'first' is stuck behind one item: 1 thread waits for it."),
  ("explosion", "Thread explosion: 80 threads are held by items that wait."),
  ("resume", "Forgotten resume: queue 'first' is suspended since"),
  ("leave", "Suspected forgotten leave: 1 thread waits for a group, and no thread has"),
  ("healthy", "Nothing is stuck."),
]

/// A program on the drop-in library that has printed "ready". It ends with this object.
private final class HangingClient {
  let process: pid_t
  private let input: Int32
  private let output: Int32

  init(_ client: Client, _ scene: String, environment: [String] = []) throws {
    var input: [Int32] = [0, 0]
    var output: [Int32] = [0, 0]
    _ = pipe(&input)
    _ = pipe(&output)
    for descriptor in [input[1], output[0]] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    process = startChild(
      ["env", "LD_LIBRARY_PATH=\(try DropIn.folder())"] + environment + [client.path, scene],
      input: input[0], output: output[1])
    close(input[0])
    close(output[1])
    self.input = input[1]
    self.output = output[0]
    var ready: [UInt8] = [0, 0, 0, 0, 0, 0]
    #expect(read(self.output, &ready, 6) == 6)
  }

  deinit {
    // First: the program ends with its input, and then leaves no board.
    kill(process, SIGKILL)
    _ = waitFor(process)
    close(input)
    close(output)
  }

  /// Dumps until the first line begins with `line`: the program's threads get to their waits soon
  /// after it is ready.
  func dump(until line: String) -> ChildResult {
    var result = dumped("\(process)")
    for _ in 0..<deadlineSeconds * 20 where !result.output.hasPrefix(line) {
      usleep(50_000)
      result = dumped("\(process)")
    }
    return result
  }
}

/// With clang, because a work item of C is a block.
private func hangs() throws -> Client { try Client(c: "Hangs.c", compiler: "clang") }

private func dumped(_ target: String) -> ChildResult {
  runChild(["\(buildFolder)/grandcentral", "dump", target, "--stuck-after", "0"])
}

private func expect(_ line: String, _ scene: String, _ result: ChildResult) {
  #expect(result.output.hasPrefix(line), "\(result)")
  #expect(result.status == (scene == "healthy" ? 0 : 1))
}

/// The command on programs that hang on the drop-in library, without having been recompiled.
@Suite("grandcentral on the drop-in library") struct HangTests {
  @Test(arguments: scenes)
  func `names the hang of a C program first, also when it is stopped`(
    _ scene: String, _ line: String
  ) throws {
    let program = try HangingClient(try hangs(), scene)
    expect(line, scene, program.dump(until: line))
    kill(program.process, SIGSTOP)
    expect(line, scene, program.dump(until: line))
  }

  @Test(arguments: scenes.filter { $0.0 != "healthy" && $0.0 != "leave" })
  func `names the hang of a C program that was killed`(_ scene: String, _ line: String) throws {
    let folder = "/dev/shm/grandcentral-test-dropin-\(getpid())-\(scene)"
    defer { rmdir(folder) }
    let path: String
    do {
      let program = try HangingClient(
        try hangs(), scene,
        environment: ["GRANDCENTRAL_BLACKBOX=\(folder)"])
      _ = program.dump(until: line)
      path = "\(folder)/grandcentral-\(program.process)"
    }
    defer { unlink(path) }
    let result = dumped(path)
    // Whether a thread slept in the kernel is not known any more.
    if scene == "explosion" || scene == "deadlock" || scene == "resume" || scene == "group" {
      expect(line, scene, result)
    } else {
      #expect(result.status == 1, "\(result)")
    }
  }

  @Test(arguments: [
    ("operation", "Queue 'client.stuck' is stuck behind one item: 1 thread waits for it."),
    ("task", "Queue 'client.stuck' is stuck behind one item: 1 thread waits for it."),
    ("healthy", "Nothing is stuck."),
  ])
  func `names the hang of a program with Foundation and Concurrency first`(
    _ scene: String, _ line: String
  ) throws {
    let program = try HangingClient(try Client(swift: "FoundationHangs.swift"), scene)
    expect(line, scene, program.dump(until: line))
    kill(program.process, SIGSTOP)
    expect(line, scene, program.dump(until: line))
  }

  @Test(arguments: [
    ("deadlock", "Deadlock: 2 threads wait for each other."),
    // Reported once, with as many threads as wait by then.
    ("explosion", "Thread explosion: "),
    ("resume", "Forgotten resume: queue 'first' is suspended since"),
  ])
  func `lets a C program print its own dump`(_ scene: String, _ line: String) throws {
    let client = try hangs()
    let result = try client.runOnOurs(
      [scene, "until-dumped"], environment: ["GRANDCENTRAL_DUMP_AFTER": "0.2"])
    #expect(result.errors.contains(" is stuck.\n\(line)"), "\(result)")
  }
}
