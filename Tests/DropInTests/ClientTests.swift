// Programs that were never recompiled, on the drop-in: contract row X5.
import Foundation
import TestSupport
import Testing

/// Programs built for the toolchain's library, which must print the same on the drop-in library.
@Suite("On the drop-in library", .serialized) struct ClientTests {
  private func expectSame(
    _ client: Client, says expected: [String], comparesWithPeers: Bool = true,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let loaded = try client.loadedLibraries()
    #expect(
      try loaded.count == 1 && loaded[0].contains(DropIn.folder()),
      "the loader takes \(loaded)", sourceLocation: sourceLocation)
    let ours = try client.runOnOurs()
    #expect(ours.lines == expected, "\(ours)", sourceLocation: sourceLocation)
    #expect(ours.status == 0, "\(ours)", sourceLocation: sourceLocation)
    #expect(ours.errors.isEmpty, "\(ours)", sourceLocation: sourceLocation)
    guard comparesWithPeers else { return }
    let peers = client.runOnPeers()
    #expect(peers.lines == expected, "\(peers)", sourceLocation: sourceLocation)
  }

  @Test func `a C program with blocks runs`() throws {
    try expectSame(Client(c: "Functions.c", compiler: "clang"), says: functionLines + blockLines)
  }

  @Test func `a C program without blocks runs`() throws {
    try expectSame(Client(c: "Functions.c", compiler: "gcc"), says: functionLines)
  }

  @Test func `the main queue outlives its thread`() throws {
    try expectSame(
      Client(c: "EndedMain.c", compiler: "gcc"),
      says: ["early=1 specific=1", "async=4000", "timer=3"])
  }

  /// What the program does not do again is to enter the queue that stays locked.
  @Test(arguments: ["throw", "jump"])
  func `a thread continues after an exception or longjmp() has left an item`(_ way: String) throws {
    let client = try Client(c: "Unwinding.cpp", compiler: "clang++")
    let ours = try client.runOnOurs([way])
    let functions = [
      "sync_f=1", "sync=1", "barrier_sync_f=1", "barrier_sync=1", "async_and_wait_f=1",
      "async_and_wait=1", "apply_f=1", "sync_f on a target=1", "sync_f shared=1",
    ]
    #expect(ours.lines == functions + functions + ["later=1"], "\(ours)")
    #expect(ours.status == 0 && ours.errors.isEmpty, "\(ours)")
    let peers = client.runOnPeers([way])
    #expect(peers.lines == ours.lines, "\(peers)")
  }

  @Test(arguments: ["throw", "jump"])
  func `a queue that an exception or longjmp() has left is not entered or released`(
    _ way: String
  ) throws {
    let client = try Client(c: "Unwinding.cpp", compiler: "clang++")
    for (use, report) in [
      ("again", "BUG IN CLIENT OF GRAND CENTRAL: Deadlock: sync on queue 'left'"),
      (
        "release",
        "BUG IN CLIENT OF GRAND CENTRAL: The last reference to queue 'left' was released while"
      ),
    ] {
      let ours = try client.runOnOurs([way, use])
      #expect(ours.status != 0 && ours.lines.isEmpty, "\(ours)")
      #expect(ours.errors.contains(report), "\(ours)")
    }
  }

  @Test func `an exception that leaves an async item ends the process`() throws {
    let client = try Client(c: "Unwinding.cpp", compiler: "clang++")
    let ours = try client.runOnOurs(["throw", "async"])
    #expect(ours.status != 0 && ours.lines == ["terminate=1"], "\(ours)")
  }

  @Test(arguments: ["gcc", "clang"]) func `the example in C counts words`(
    _ compiler: String
  ) throws {
    let client = try Client(
      c: "../../../Examples/C/words.c", compiler: compiler, flags: ["-Wall", "-Werror"])
    let scratch = ScratchFolder()
    let files = (1...40).map { scratch["\($0)"] }
    for (index, file) in files.enumerated() {
      try String(repeating: "a word\n", count: index).write(
        toFile: file, atomically: true, encoding: .utf8)
    }
    let end = try client.runOnOurs(files)
    #expect(end.status == 0, "\(end)")
    #expect(end.errors.isEmpty, "\(end)")
    #expect(
      Set(end.lines.dropLast()) == Set(files.enumerated().map { "\(2 * $0) \($1)" }))
    #expect(end.lines.last == "1560 in all")
    let missing = try client.runOnOurs([scratch["missing"]])
    #expect(missing.status == 1)
    #expect(missing.errors == "words: cannot read '\(scratch["missing"])'\n")
  }

  @Test(.enabled(if: DropIn.isSelfContained))
  func `a C program loads no library of Swift and gets no handler of crashes`() throws {
    let client = try Client(c: "Footprint.c", compiler: "gcc")
    let ours = try client.runOnOurs(environment: ["SWIFT_BACKTRACE": "enable=yes"])
    #expect(ours.lines == ["libraries=0", "handlers=0"], "\(ours)")
    #expect(ours.status == 0 && ours.errors.isEmpty, "\(ours)")
  }

  private let functionLines = [
    "async=1000", "group=0 100", "apply=5050", "once=1", "timeout=1", "after=0", "timer=3",
    "specific=1", "context=7", "null=1 1", "finalizer=1",
  ]
  private let blockLines = [
    "block async=500", "work block=1 cancelled=1", "notify=1", "data=10 2", "read=hello",
  ]

  @Test(arguments: [[], ["-O"]]) func `a Swift program that imports Dispatch runs`(
    _ flags: [String]
  ) throws {
    try expectSame(
      Client(swift: "Overlay.swift", flags: flags),
      says: [
        "async=1000", "sync=42", "threw=true", "barrier=100", "group=success", "item=1 true",
        "specific=7", "perform=5050", "semaphore=timedOut", "data=hellohello llohe", "timer=3",
        "add=6", "read=5", "io=hello", "qos=utility", "target=true", "after=true", "main=true",
      ])
  }

  @Test(arguments: [[], ["-O"]]) func `async and await run`(_ flags: [String]) throws {
    try expectSame(
      Client(swift: "Concurrency.swift", flags: ["-parse-as-library"] + flags),
      says: [
        "group=499500", "sleep=true", "main=true", "actor=1000", "stream=10", "cancelled=true",
        "detached=true", "yields=1000",
      ])
  }

  /// The program uses Dispatch through Concurrency alone, so all that it submits are jobs. The
  /// tests of embedding count the same program's.
  @Test(arguments: ["LD_LIBRARY_PATH", "LD_PRELOAD"])
  func `every job of Concurrency is taken as a job`(_ variable: String) throws {
    let client = try Client(swift: "Jobs.swift", flags: ["-parse-as-library"])
    let folder = try DropIn.folder()
    let ours = runChild(
      [client.path],
      environment: [
        variable: variable == "LD_PRELOAD" ? "\(folder)/libdispatch.so" : folder,
        "GRANDCENTRAL_COUNT_JOBS": "1",
      ], seconds: DropIn.seconds)
    #expect(ours.status == 0, "\(ours)")
    #expect(ours.lines.dropLast() == ["main=204 actor=200", "hook=true"], "\(ours)")
    let counts = try #require(
      ours.errors.wholeMatch(of: /GRAND CENTRAL: jobs=(\d+) functions=(\d+)\n/))
    let least = try #require(ours.lines.last?.wholeMatch(of: /least=(\d+)/))
    #expect(counts.2 == "0", "\(ours)")
    #expect(Int(counts.1)! >= Int(least.1)!, "\(ours)")
  }

  @Test(.enabled(if: DropIn.isSelfContained))
  func `preloaded into a static Swift program, the first task stops it with a message`() throws {
    let client = try Client(
      swift: "Concurrency.swift", flags: ["-parse-as-library", "-static-stdlib"])
    let ours = runChild(
      [client.path], environment: ["LD_PRELOAD": "\(try DropIn.folder())/libdispatch.so"],
      seconds: DropIn.seconds)
    #expect(ours.signal != nil && ours.output.isEmpty, "\(ours)")
    #expect(ours.errors.contains("another libdispatch") && ours.errors.contains("LD_PRELOAD"))
  }

  @Test func `a task that others wait for starts however many others block`() throws {
    let client = try Client(swift: "TaskThreads.swift", flags: ["-parse-as-library", "-O"])
    let ours = try client.runOnOurs()
    #expect(ours.status == 0 && ours.output.hasPrefix("blocked="), "\(ours)")
  }

  @Test func `a deadlock of tasks is reported with their names and actors`() throws {
    let client = try Client(swift: "TaskNames.swift", flags: ["-parse-as-library"])
    let ours = try client.runOnOurs()
    #expect(ours.status != 0, "\(ours)")
    for part in [
      "(task 'transfer-0') waits for queue 'queue.1'",
      "(task 'transfer-1' on actor 'client.Account') waits for queue 'queue.0'",
    ] {
      #expect(ours.errors.contains(part), "\(ours)")
    }
  }

  @Test func `on one CPU, one task of a class runs at a time`() throws {
    let client = try Client(swift: "TaskThreads.swift", flags: ["-parse-as-library", "-O"])
    let first = try #require(
      (0..<1024).first { runChild(["taskset", "-c", "\($0)", "true"]).status == 0 })
    let ours = runChild(
      ["taskset", "-c", "\(first)", client.path, "crowd"],
      environment: ["LD_LIBRARY_PATH": try DropIn.folder()], seconds: DropIn.seconds)
    #expect(ours.lines == ["most=1"], "\(ours)")
  }

  @Test func `Foundation runs`() throws {
    try expectSame(
      Client(swift: "FoundationClient.swift"),
      says: [
        "operations=100", "process=hello 0", "handle=some bytes", "timer=3", "main=true",
        "runloop=true", "notified=true", "url=200 pong",
      ],
      // On the toolchain's library the handle's end is occasionally not reported.
      comparesWithPeers: false)
  }

  @Test func `descriptors that Foundation closes early are reported on request only`() throws {
    let client = try Client(swift: "EarlyClose.swift")
    try expectSame(client, says: ["refused=5", "cancelled=50", "closed=early"])
    let asked = try client.runOnOurs(environment: ["GRANDCENTRAL_REPORTS": "all"])
    #expect(asked.status == 0, "\(asked)")
    let isReported = asked.errors.split(separator: "\n").contains {
      $0.hasPrefix("BUG IN CLIENT OF GRAND CENTRAL: The descriptor of a ")
        && $0.contains("was closed before the source was cancelled")
    }
    #expect(isReported, "\(asked)")
  }

  @Test func `a thread-sanitized program starts, and only its own races are reported`() throws {
    let client = try Client(swift: "Sanitized.swift", flags: ["-sanitize=thread"])
    let clean = try client.runOnOurs()
    #expect(clean.status == 0 && clean.lines == ["n=401"], "\(clean)")
    #expect(!clean.errors.contains("WARNING: ThreadSanitizer"), "\(clean.errors)")
    let racy = try client.runOnOurs(["race"])
    #expect(racy.errors.contains("WARNING: ThreadSanitizer: "), "\(racy)")
  }

  @Test func `another copy in the process is reported once`() throws {
    let client = try Client(c: "Copies.c", compiler: "clang")
    let alone = try client.runOnOurs()
    #expect(alone.lines == ["used=1"] && alone.errors.isEmpty, "\(alone)")
    let scratch = ScratchFolder()
    var others: [String] = []
    for name in ["second.so", "third.so"] {
      try DropIn.run(["cp", "\(DropIn.folder())/libdispatch.so", scratch[name]])
      others.append(scratch[name])
    }
    let result = try client.runOnOurs(others)
    #expect(result.lines == ["used=3"], "\(result)")
    let reports = result.errors.split(separator: "\n")
    #expect(
      reports.count == 1
        && reports[0].hasPrefix("GRAND CENTRAL: There are 2 copies of the engine in this process: ")
        && reports[0].contains(others[0]) && reports[0].contains("libdispatch.so"), "\(result)")
  }

  @Test func `a plug-in that needs it may be closed while its items run`() throws {
    let client = try Client(c: "Unloading.c", compiler: "clang", flags: ["-Wl,--as-needed"])
    let result = try client.runOnOurs(["\(DropIn.folder())/libdispatch.so"])
    #expect(result.status == 0 && result.lines == ["stays=1"], "\(result)")
  }

  @Test func `symbols that the drop-in lacks are listed before a program runs`() throws {
    let scratch = ScratchFolder()
    let check = [DropIn.dev, "dropin-check", "\(try DropIn.folder())/libdispatch.so"]
    let known = try Client(c: "Copies.c", compiler: "clang")
    try DropIn.run(check + [known.path])
    let source = scratch["newer.c"]
    try "void dispatch_of_tomorrow(void); void use(void) { dispatch_of_tomorrow(); }"
      .write(toFile: source, atomically: true, encoding: .utf8)
    let newer = scratch["libnewer.so"]
    try DropIn.run(["clang", "-shared", "-fPIC", source, "-o", newer])
    let result = runChild(check + [newer])
    #expect(result.status == 1, "\(result)")
    #expect(result.errors.contains("libnewer.so wants dispatch_of_tomorrow"), "\(result)")
  }

  /// Runs SwiftPM, the compiler's driver, XCTest and Swift Testing on the drop-in library.
  @Test func `the package manager builds and tests a package`() throws {
    let scratch = ScratchFolder()
    let source = "\(DropIn.packageFolder)/Tests/DropInTests/ClientPackage"
    try DropIn.run(["cp", "-r", source, scratch["package"]])
    try DropIn.run(["mv", scratch["package/Package.swift.txt"], scratch["package/Package.swift"]])
    let environment = ["LD_LIBRARY_PATH": try DropIn.folder()]
    let said = try DropIn.run(
      ["swift", "test", "--package-path", scratch["package"], "--enable-xctest"],
      environment: environment)
    #expect(said.contains("Test run with 1 test") && said.contains("passed"), "\(said)")
    #expect(said.contains("Executed 1 test, with 0 failures"), "\(said)")
  }
}
