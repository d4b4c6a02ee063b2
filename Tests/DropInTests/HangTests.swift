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
  private let errors: Int32

  init(_ client: Client, _ scene: String, environment: [String] = []) throws {
    let (input, output, errors) = (makePipe(), makePipe(), makePipe())
    process = startChild(
      ["env", "LD_LIBRARY_PATH=\(try DropIn.folder())"] + environment + [client.path, scene],
      input: input.read, output: output.write, errors: errors.write)
    close(input.read)
    close(output.write)
    close(errors.write)
    self.input = input.write
    self.output = output.read
    self.errors = errors.read
    var ready: [UInt8] = [0, 0, 0, 0, 0, 0]
    #expect(read(self.output, &ready, 6) == 6)
  }

  deinit {
    // First: the program ends with its input, and then leaves no board.
    kill(process, SIGKILL)
    _ = waitFor(process)
    close(input)
    close(output)
    close(errors)
  }

  /// Reads the program's errors until they contain `text`, for as long as a test may wait.
  func errors(until text: String) -> String {
    var read: [UInt8] = []
    var next = [UInt8](repeating: 0, count: 4096)
    var descriptor = pollfd(fd: errors, events: Int16(POLLIN), revents: 0)
    while !String(decoding: read, as: UTF8.self).contains(text),
      poll(&descriptor, 1, Int32(deadlineSeconds) * 1_000) > 0
    {
      let count = Glibc.read(errors, &next, next.count)
      if count <= 0 { break }
      read += next[..<count]
    }
    return String(decoding: read, as: UTF8.self)
  }

  /// Dumps until the first line begins with `line`: the program's threads get to their waits soon
  /// after it is ready.
  func dump(until line: String) -> ChildResult { dump { $0.hasPrefix(line) } }

  func dump(until isReached: (String) -> Bool) -> ChildResult {
    polled(until: { isReached($0.output) }, { dumped("\(process)") })
  }

  /// Dumps once all threads of the program are asleep in the kernel, and are so afterwards.
  func dumpAsleep() -> ChildResult? {
    func dumpIfAsleep() -> ChildResult? {
      let wereAsleep = areAllAsleep
      let result = dumped("\(process)")
      return wereAsleep && areAllAsleep ? result : nil
    }
    return polled(until: { $0 != nil }, dumpIfAsleep)
  }

  /// proc_pid_status(5).
  private var areAllAsleep: Bool {
    let states = runChild(["sh", "-c", "cat /proc/\(process)/task/*/status"]).lines
      .filter { $0.hasPrefix("State:") }
    return !states.isEmpty && states.allSatisfy { $0.hasPrefix("State:\tS") }
  }
}

/// A program that uses queues as its language does, with all scenes.
enum HangLanguage: CaseIterable {
  case c, swift

  func built() throws -> Client {
    switch self {
    // With clang, because a work item of C is a block.
    case .c: try Client(c: "Hangs.c", compiler: "clang")
    case .swift: try Client(swift: "Hangs.swift")
    }
  }
}

private func dumped(_ target: String) -> ChildResult {
  runChild(["\(buildFolder)/grandcentral", "dump", target, "--stuck-after", "0"])
}

private func expect(_ line: String, _ scene: String, _ result: ChildResult?) {
  #expect(result?.output.hasPrefix(line) == true, "\(scene): \(String(describing: result))")
  #expect(result?.status == (scene == "healthy" ? 0 : 1), "\(scene)")
}

/// The command on programs that hang on the drop-in library, without having been recompiled.
@Suite("grandcentral on the drop-in library") struct HangTests {
  @Test(arguments: HangLanguage.allCases)
  func `names each hang of a running program first`(_ language: HangLanguage) throws {
    let client = try language.built()
    for (scene, line) in scenes {
      expect(line, scene, try HangingClient(client, scene).dump(until: line))
    }
  }

  @Test(arguments: HangLanguage.allCases)
  func `names each hang first while all threads of the program are asleep`(
    _ language: HangLanguage
  ) throws {
    let client = try language.built()
    for (scene, line) in scenes {
      let hanging = try HangingClient(client, scene)
      _ = hanging.dump(until: line)
      expect(line, scene, hanging.dumpAsleep())
    }
  }

  @Test(arguments: HangLanguage.allCases)
  func `names each hang of a stopped program first`(_ language: HangLanguage) throws {
    let client = try language.built()
    for (scene, line) in scenes {
      let hanging = try HangingClient(client, scene)
      _ = hanging.dump(until: line)
      kill(hanging.process, SIGSTOP)
      expect(line, scene, hanging.dump(until: line))
    }
  }

  @Test(arguments: HangLanguage.allCases)
  func `names each hang of a killed program first`(_ language: HangLanguage) throws {
    let client = try language.built()
    let folder = "/dev/shm/grandcentral-test-dropin-\(getpid())-\(language)"
    defer { removeTree(folder) }
    for (scene, line) in scenes {
      let path: String
      do {
        let hanging = try HangingClient(
          client, scene, environment: ["GRANDCENTRAL_BLACKBOX=\(folder)"])
        _ = hanging.dump(until: line)
        path = "\(folder)/grandcentral-\(hanging.process)"
      }
      expect(line, scene, dumped(path))
    }
  }

  @Test func `names a deadlock through dispatch_once`() throws {
    let hanging = try HangingClient(try HangLanguage.c.built(), "once")
    let result = hanging.dump(until: "Deadlock: 2 threads wait for each other.")
    expect("Deadlock: 2 threads wait for each other.", "once", result)
    #expect(result.output.contains(/waits for dispatch_once for \S+ m?s, held by thread/))
  }

  @Test func `names the thread that runs a dispatch_once and has no record`() throws {
    let hanging = try HangingClient(try HangLanguage.c.built(), "once-of-thread")
    let line = "dispatch_once is stuck in its function: 1 thread waits for it."
    let result = hanging.dump(until: line)
    expect(line, "once-of-thread", result)
    let held = /waits for dispatch_once for \S+ m?s, held by thread (\d+)\n/
    let holder = try #require(result.output.firstMatch(of: held)).output.1
    #expect(!result.output.contains("thread \(holder) '"), "\(result)")
    #expect(holder != "\(hanging.process)", "\(result)")
  }

  @Test func `says that an actor's jobs are behind the one that sleeps`() throws {
    let hanging = try HangingClient(try Client(swift: "FoundationHangs.swift"), "actor")
    let line = "the actor's other jobs do not run before that ends"
    let result = hanging.dump { $0.contains(line) }
    #expect(result.output.contains(/sleeps in a system call .*\. If this is the job of an actor/))
    #expect(result.output.contains(line), "\(result)")
    #expect(result.output.hasPrefix("Nothing is stuck."), "\(result)")
    #expect(result.status == 0)
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
    let program = try HangingClient(
      try HangLanguage.c.built(), scene, environment: ["GRANDCENTRAL_DUMP_AFTER=0.2"])
    let expected = " is stuck.\n\(line)"
    let errors = program.errors(until: expected)
    #expect(errors.contains(expected), "\(errors)")
  }
}
