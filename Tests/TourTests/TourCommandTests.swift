// Purpose: the `tour` command from a user's view: its output, its exit codes, Ctrl-C.

import Glibc
import Testing
import TourChapters
import TourKit

@Suite("The tour", .timeLimit(.minutes(5))) struct TourCommandTests {
  @Test func `agrees with itself and cksum, prints the table and goes live`() throws {
    let folder = try MadeFolder()
    try folder.fill()
    let temporary = try MadeFolder()
    let words = ["--rounds", "2", "--megabytes", "4"].map { Path($0) }
    let end = try Child.tour(words + [folder.path], temporary: temporary).end()
    #expect(end.code == 0)
    #expect(end.errors == "")
    #expect(end.output.contains("193 files in 26 folders"))
    #expect(end.output.contains("all three engines found the same in every run"))
    #expect(end.output.contains("cksum command"))
    for engine in Engine.allCases {
      #expect(end.output.contains("\n  \(engine.title), run 2 of 2"))
      #expect(end.output.contains("\n  \(engine.title)  "))
    }
    #expect(end.output.contains("Grand Central takes"))
    for chapter in LiveChapter.allCases { #expect(end.output.contains("\n\(chapter.title)\n")) }
    #expect(!end.output.contains("not so"))
  }

  @Test func `prints plain lines into a pipe`() throws {
    let folder = try MadeFolder()
    let end = try Child.tour(Path.checksums + [folder.path]).end()
    #expect(end.code == 0)
    #expect(!end.output.contains("\u{1B}"))
    #expect(!end.output.contains("\r"))
    #expect(end.output.contains("0 files in 1 folder"))
  }

  @Test func `counts what it may not read and goes on`() throws {
    if geteuid() == 0 { return }  // root can read everything
    let folder = try MadeFolder()
    let secret = try folder.file("secret", [1])
    try folder.file("open", [2])
    _ = secret.withCString { chmod($0, 0) }
    let end = try Child.tour(Path.checksums + [folder.path]).end()
    #expect(end.code == 0)
    #expect(end.output.contains("cannot read \(secret): Permission denied"))
    #expect(end.output.contains("1 file in 1 folder"))
  }

  @Test func `names a PATH that is not there`() throws {
    let missing = try MadeFolder().path.appending("missing")
    let end = try Child.tour([missing]).end()
    #expect(end.code == 2)
    #expect(end.errors == "tour: cannot open '\(missing)': No such file or directory.\n")
    #expect(end.output == "")
  }

  @Test func `refuses a PATH that is no file and no folder`() throws {
    let end = try Child.tour([Path("/dev/null")]).end()
    #expect(end.code == 2)
    #expect(end.errors == "tour: '/dev/null' is neither a folder nor an ordinary file.\n")
  }

  @Test(arguments: [
    ["--nonsense"], ["--rounds"], ["--rounds", "none"], ["a", "b"], ["--only", "all"],
    ["--megabytes", "0"],
  ])
  func `explains a wrong command line`(words: [String]) throws {
    let end = try Child.tour(words.map { Path($0) }).end()
    #expect(end.code == 2)
    #expect(end.errors.hasPrefix("tour: "))
    #expect(end.errors.contains("'tour --help'"))
  }

  @Test func `has a help`() throws {
    let end = try Child.tour([Path("--help")]).end()
    #expect(end.code == 0)
    #expect(end.output.hasPrefix("Usage: tour"))
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func `stops cleanly at Ctrl-C and says what was done`(signal: Int32, code: Int32) throws {
    let folder = try MadeFolder()
    try folder.endlessFile("endless")
    var child = try Child.tour([folder.path])
    let hasBegun = child.waitForOutput("so far")
    #expect(hasBegun)
    child.send(signal)
    let end = child.end()
    #expect(end.code == code)
    #expect(end.output.contains("Stopped during warming up: 0 files and 0 B done in"))
    #expect(end.errors == "")
  }

  @Test(arguments: Engine.allCases)
  func `stops each engine's process at Ctrl-C`(engine: Engine) throws {
    let folder = try MadeFolder()
    try folder.endlessFile("endless")
    let request = EngineRequest(
      engine: engine, root: folder.path, descriptorLimit: 4, isPlain: true,
      progressTitle: "a test", expectedBytes: 0)
    var child = try Child.tour(request.arguments)
    let hasBegun = child.waitForOutput("a test: 0 files, ")
    #expect(hasBegun)
    child.send(SIGINT)
    let end = child.end()
    #expect(end.code == 130)
    #expect(end.errors == "")
  }
}

extension Path {
  /// Options for one round of checksums only.
  static let checksums = ["--only", "checksums", "--rounds", "1"].map { Path($0) }
}
