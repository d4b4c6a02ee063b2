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
    let result = try report(on: scene)
    #expect(result.output.hasPrefix(line) && result.output.contains(item), "\(result)")
    #expect(result.status == 1)
  }

  @Test func `names the reason in a recording with origins, too`() throws {
    // Which functions are known depends on the frame pointers of the library and of the program.
    let result = try report(on: "long-item", options: ["--origins"])
    #expect(result.output.hasPrefix("Long item: queue 'rows' runs one item for "), "\(result)")
  }

  @Test(arguments: [[], ["item"]])
  func `names the closure of Swift, not the thunk that calls it`(arguments: [String]) throws {
    let client = try Client(swift: "SlowClosures.swift")
    let path = "/tmp/grandcentral-test-\(getpid())-slow-closures\(arguments.count).gcrecord"
    defer { unlink(path) }
    #expect(try recorded(client, arguments, to: path, options: []) == "done\n")
    let result = runChild(["\(buildFolder)/grandcentral", "report", path])
    #expect(result.output.hasPrefix("Long item: queue 'rows' runs one item for "), "\(result)")
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
    var result = try report(on: "healthy")
    for _ in 0..<9 where result.status != 0 { result = try report(on: "healthy") }
    #expect(result.output.hasPrefix("Nothing in the recording"), "\(result)")
    #expect(result.status == 0)
  }

  /// Records the client, and returns what `report` prints.
  private func report(on scene: String, options: [String] = []) throws -> ChildResult {
    let client = try Client(c: "Slow.c", compiler: "gcc")
    // A name of its own: tests of one scene run at the same time.
    let name = ([scene] + options).joined()
    let path = "/tmp/grandcentral-test-\(getpid())-slow-\(name).gcrecord"
    defer { unlink(path) }
    #expect(try recorded(client, [scene], to: path, options: options) == "done\n")
    return runChild(["\(buildFolder)/grandcentral", "report", path])
  }

  /// Records a program on the drop-in library, and returns the first five bytes that it prints.
  private func recorded(
    _ client: Client, _ arguments: [String], to path: String, options: [String]
  ) throws -> String {
    unlink(path)
    var input: [Int32] = [0, 0]
    var output: [Int32] = [0, 0]
    _ = pipe(&input)
    _ = pipe(&output)
    for descriptor in [input[1], output[0]] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    let recorder = startChild(
      [
        "env", "LD_LIBRARY_PATH=\(try DropIn.folder())", "\(buildFolder)/grandcentral", "record",
        "-o", path,
      ] + options + ["--", client.path] + arguments, input: input[0], output: output[1])
    close(input[0])
    close(output[1])
    defer { close(output[0]) }
    var done: [UInt8] = [0, 0, 0, 0, 0]
    let count = read(output[0], &done, 5)
    // The program must not end before its board is found, or nothing would be recorded.
    for _ in 0..<deadlineSeconds * 100 where !isBegun(path) { usleep(10_000) }
    close(input[1])
    #expect(waitFor(recorder).status == 0)
    return String(decoding: done.prefix(max(0, count)), as: UTF8.self)
  }

  private func isBegun(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_size > 8
  }
}
