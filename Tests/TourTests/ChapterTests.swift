// Purpose: the live chapters from a user's view: their checks pass, also with few resources and
// without the optional programs, and no file or process remains.

import Glibc
import Testing
import TourKit

@testable import TourChapters

@Suite("A live chapter", .timeLimit(.minutes(5))) struct ChapterTests {
  @Test(arguments: LiveChapter.allCases)
  func `finds that its checks hold and leaves nothing behind`(chapter: LiveChapter) throws {
    let folder = try MadeFolder()
    try folder.fill()
    let temporary = try MadeFolder()
    let end = try Child.chapter(chapter, of: folder.path, temporary: temporary).end()
    #expect(end.code == 0, "\(end.output)\(end.errors)")
    #expect(end.errors == "")
    #expect(!end.output.contains("not so"))
    #expect(end.output.contains("no file, child or descriptor is left behind"))
    #expect(try FolderListing(of: temporary.path).folders.isEmpty)
  }

  @Test func `sends the running program where there is no file`() throws {
    let folder = try MadeFolder()
    let end = try Child.chapter(.echo, of: folder.path).end()
    #expect(end.code == 0, "\(end.output)\(end.errors)")
    #expect(end.output.contains("1 file came back byte for byte"))
  }

  @Test func `does without netcat and the load generator`() throws {
    let commands = try MadeFolder()
    for name in ["bash", "sh", "cat", "head", "cmp", "grep"] {
      guard let path = ["/usr/bin/", "/bin/"].map({ $0 + name }).first(where: isThere) else {
        return  // This machine lacks a command that the chapter needs.
      }
      commands.link(name, to: path)
    }
    let folder = try MadeFolder()
    try folder.fill()
    let end = try Child.chapter(.echo, of: folder.path, environment: ["PATH=\(commands.path)"])
      .end()
    #expect(end.code == 0, "\(end.output)\(end.errors)")
    #expect(end.output.contains("8 files came back byte for byte through as many bash"))
    #expect(end.output.contains("No redis-benchmark here"))
  }

  @Test func `does without any client`() throws {
    let nothing = try MadeFolder()
    let end = try Child.chapter(.echo, of: nothing.path, environment: ["PATH=\(nothing.path)"])
      .end()
    #expect(end.code == 0, "\(end.output)\(end.errors)")
    #expect(end.output.contains("Neither nc nor bash here"))
    #expect(end.output.contains("every line came back"))
  }

  @Test func `does without tr, cp and diff`() throws {
    let folder = try MadeFolder()
    try folder.fill()
    let nothing = try MadeFolder()
    let settings = ["PATH=\(nothing.path)"]
    let pipeline = try Child.chapter(.pipeline, of: folder.path, environment: settings).end()
    #expect(pipeline.code == 0, "\(pipeline.output)\(pipeline.errors)")
    #expect(pipeline.output.contains("a plain loop gives the same, byte for byte"))
    let copy = try Child.chapter(.copy, of: folder.path, environment: settings).end()
    #expect(copy.code == 0, "\(copy.output)\(copy.errors)")
    #expect(copy.output.contains("checksums and links are those of the folder"))
  }

  @Test func `shows how far the copy has come, and finds the copy of cp in it`() throws {
    let folder = try MadeFolder()
    try folder.fill()
    let end = try Child.chapter(.copy, of: folder.path.appending("folder 3")).end()
    #expect(end.code == 0, "\(end.output)\(end.errors)")
    for quarter in [25, 50, 75, 100] {
      #expect(end.output.contains("\(quarter) %  \(quarter * 16 / 100) files, "))
    }
    #expect(end.output.contains("diff -r finds no difference to the copy that cp made"))
  }

  @Test func `copies a single file`() throws {
    let folder = try MadeFolder()
    let file = try folder.file("single", [1, 2, 3])
    let end = try Child.chapter(.copy, of: file).end()
    #expect(end.code == 0, "\(end.output)\(end.errors)")
    #expect(end.output.contains("1 file in 0 folders, 3 B, 0 links"))
    #expect(end.output.contains("diff -r finds no difference"))
  }

  @Test func `transliterates the running program where there is no file`() throws {
    let folder = try MadeFolder()
    let end = try Child.chapter(.pipeline, of: folder.path).end()
    #expect(end.code == 0, "\(end.output)\(end.errors)")
    #expect(end.output.contains("1 file of "))
    #expect(end.output.contains("tr a-z A-Z gives the same, byte for byte"))
  }

  @Test func `takes the files of a copy away when it is asked to stop`() throws {
    let folder = try MadeFolder()
    for index in 0..<6 { try folder.file("\(index)", holding: 30_000_000) }
    let temporary = try MadeFolder()
    var child = try Child.chapter(.copy, of: folder.path, temporary: temporary)
    let hasBegun = child.waitForOutput("copying")
    #expect(hasBegun)
    child.send(SIGTERM)
    let end = child.end()
    #expect(end.code == 143, "\(end.output)")
    #expect(!end.output.contains("not so"))
    #expect(try FolderListing(of: temporary.path).folders.isEmpty)
  }

  @Test func `draws what it saw, and plays inversions with and without help`() throws {
    let folder = try MadeFolder()
    try folder.fill()
    let temporary = try MadeFolder()
    let end = try Child.chapter(.classes, of: folder.path, temporary: temporary).end()
    #expect(end.code == 0, "\(end.output)\(end.errors)")
    let runs = [
      "Grand Central", "Grand Central, overrides off", "toolchain's Dispatch",
    ]
    for run in runs {
      #expect(end.output.contains(" \(run): all that was queued ran first, in order, every time"))
      for kind in ["async", "sync"] { #expect(end.output.contains("\n    \(run), \(kind)  ")) }
    }
    let mark = "The same as a drawing: "
    let line = try #require(end.output.split(separator: "\n").first { $0.contains(mark) })
    let drawing = Path(String(line.split(separator: mark, omittingEmptySubsequences: false)[1]))
    #expect(try FolderListing(of: temporary.path).files == [drawing])
    let svg = textOf(drawing, maxBytes: 1 << 20)
    #expect(WellFormed.fault(in: svg) == nil)
    for run in runs { #expect(svg.contains(">\(run), async<")) }
  }

  @Test func `says that nothing takes effect where the classes are switched off`() throws {
    let folder = try MadeFolder()
    try folder.fill()
    let temporary = try MadeFolder()
    let end = try Child.chapter(
      .classes, of: folder.path, temporary: temporary, environment: ["GRANDCENTRAL_EFFECTS=none"]
    ).end()
    #expect(end.code == 0, "\(end.output)\(end.errors)")
    let effects = end.output.split(separator: "\n").filter { $0.contains("schedulingPolicy") }
    #expect(effects.count == 2)
    #expect(effects.allSatisfy { $0.hasSuffix("refused: switchedOff") })
    #expect(end.output.contains("the kernel says of the thread: SCHED_OTHER, nice"))
  }

  @Test(
    arguments: [
      (.echo, "byte for byte"), (.folder, "notes: write"), (.pipeline, "over and over"),
      (.classes, "Inversions:"),
    ] as [(LiveChapter, String)])
  func `takes away what it made when it is asked to stop`(
    chapter: LiveChapter, line: String
  ) throws {
    let folder = try MadeFolder()
    try folder.fill()
    let temporary = try MadeFolder()
    var child = try Child.chapter(chapter, of: folder.path, temporary: temporary, megabytes: 256)
    let hasBegun = child.waitForOutput(line)
    #expect(hasBegun)
    child.send(SIGTERM)
    let end = child.end()
    #expect(end.code == 143, "\(end.output)")
    #expect(try FolderListing(of: temporary.path).folders.isEmpty)
  }
}

private func isThere(_ path: String) -> Bool { access(path, X_OK) == 0 }

extension Child {
  /// Runs the tour with one chapter only.
  static func chapter(
    _ chapter: LiveChapter, of root: Path, temporary: MadeFolder? = nil,
    environment: [String] = [], megabytes: Int = 4
  ) throws -> Child {
    let options = ["--megabytes", "\(megabytes)", "--only", chapter.rawValue].map { Path($0) }
    return try tour(options + [root], temporary: temporary, environment: environment)
  }
}
