import Glibc
import TestSupport
import Testing

/// The command records C programs that were built for the toolchain's library, and names what slows
/// them down.
@Suite("grandcentral record on the drop-in library") struct SlowTests {
  @Test(arguments: [
    ("long-item", "Long item: queue 'rows' runs one item for ", "an item (rebuild_index"),
    (
      "late-timer", "Late timer: a timer of queue 'rows' runs its handler ",
      "Before it ran: an item (rebuild_index"
    ),
    ("explosion", "Thread explosion: ", "× queue 'pages' (fetch_page"),
    ("hot-queue", "Hot queue: 'rows' runs items ", "× write_row"),
    ("inversion", "Inversion: ", "an item (rebuild_after_submission"),
    ("lock-order", "Possible deadlock: threads enter the queues '", "an item (transfer"),
  ])
  func `names the reason first, and the function`(
    _ scene: String, _ line: String, _ item: String
  ) throws {
    let result = try report(on: scene, until: line)
    #expect(result.output.hasPrefix(line) && result.output.contains(item), "\(result)")
    #expect(result.status == 1)
  }

  @Test func `names the reason in a recording with origins, too`() throws {
    // Which functions are known depends on the frame pointers of the library and of the program.
    let line = "Long item: queue 'rows' runs one item for "
    let result = try report(on: "long-item", options: ["--origins"], until: line)
    #expect(result.output.hasPrefix(line), "\(result)")
  }

  @Test(arguments: [[], ["item"]])
  func `names the closure of Swift, not the thunk that calls it`(arguments: [String]) throws {
    let client = try Client(swift: "SlowClosures.swift")
    let line = "Long item: queue 'rows' runs one item for "
    let result = try report(
      of: client, arguments, name: "closures\(arguments.joined())", until: line)
    #expect(result.output.hasPrefix(line), "\(result)")
    #expect(result.output.contains("an item (closure #1 in "), "\(result)")
    #expect(result.output.contains("rebuildIndex(pauses: "), "\(result)")
    #expect(!result.output.contains("thunk"), "\(result)")
  }

  @Test func `walks the frames of code that keeps no frame pointers`() throws {
    for flags in [["-O2", "-fomit-frame-pointer"], ["-O0", "-fno-omit-frame-pointer"]] {
      let client = try Client(c: "Frames.c", compiler: "gcc", flags: flags)
      let path = "/tmp/grandcentral-test-\(getpid())-frames.gcrecord"
      defer { unlink(path) }
      let text = try recorded(client, [], to: path, options: ["--origins"])
      #expect(text == "done\n")
      let result = runChild(["\(buildFolder)/grandcentral", "report", path])
      #expect(result.output.contains("'client' (process "), "\(result)")
    }
  }

  @Test func `finds nothing in a healthy program`() throws {
    // A machine with much other load may hold up a healthy program for long, now and then.
    let line = "Nothing in the recording"
    let result = try report(on: "healthy", until: line)
    #expect(result.output.hasPrefix(line), "\(result)")
    #expect(result.status == 0)
  }

  /// Records a scene of Slow.c until `report` prints `line` first. Returns what it prints.
  private func report(
    on scene: String, options: [String] = [], until line: String
  ) throws -> ChildResult {
    let client = try Client(c: "Slow.c", compiler: "gcc")
    return try report(
      of: client, [scene], name: ([scene] + options).joined(), options: options, until: line)
  }

  /// Records a client until `report` prints `line` first. Returns what it prints. `name`: that of
  /// the recording, which no test that runs at the same time may share.
  private func report(
    of client: Client, _ arguments: [String], name: String, options: [String] = [],
    until line: String
  ) throws -> ChildResult {
    let path = "/tmp/grandcentral-test-\(getpid())-slow-\(name).gcrecord"
    defer { unlink(path) }
    return try retried(untilFirst: line) {
      let text = try recorded(client, arguments, to: path, options: options)
      #expect(text == "done\n")
      return runChild(["\(buildFolder)/grandcentral", "report", path])
    }
  }

  /// Records a program on the drop-in library, and returns the first five bytes that it prints.
  private func recorded(
    _ client: Client, _ arguments: [String], to path: String, options: [String]
  ) throws -> String {
    unlink(path)
    let (input, output) = (makePipe(), makePipe())
    let recorder = startChild(
      [
        "env", "LD_LIBRARY_PATH=\(try DropIn.folder())", "\(buildFolder)/grandcentral", "record",
        "-o", path,
      ] + options + ["--", client.path] + arguments, input: input.read, output: output.write)
    close(input.read)
    close(output.write)
    defer { close(output.read) }
    var done: [UInt8] = [0, 0, 0, 0, 0]
    let count = read(output.read, &done, 5)
    // The program must not end before its board is found, or nothing would be recorded.
    #expect(eventually { isBegun(path) })
    close(input.write)
    #expect(waitFor(recorder).status == 0)
    return String(decoding: done.prefix(max(0, count)), as: UTF8.self)
  }

  private func isBegun(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_size > 8
  }
}
