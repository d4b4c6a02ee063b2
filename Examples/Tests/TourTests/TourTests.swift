// The `tour` command from a user's view: its output, its exit codes, Ctrl-C.

import Glibc
import Testing

@testable import tour

@Suite("The tour", .timeLimit(.minutes(30))) struct TourTests {
  @Test(arguments: Chapter.all.map(\.name))
  func `finds every result of a chapter right and leaves nothing behind`(chapter: String) throws {
    let folder = try MadeFolder()
    try folder.fill()
    let tour = try RunningTour("--short", folder.path, chapter)
    let end = try tour.end()
    #expect(end.ending == .exited(0), "\(end.output)\(end.errors)")
    #expect(end.errors == "")
    #expect(end.output.hasPrefix("\(chapter): "))
    #expect(end.output.contains("\n  ok: "))
    #expect(end.output.hasSuffix("\nEvery result is right.\n"))
    #expect(!end.output.contains("WRONG"))
    // Into a pipe, no colours and no lines that are overwritten.
    #expect(!end.output.contains { $0 == "\u{1B}" || $0 == "\r" })
    #expect(try names(in: tour.temporary.path) == [])
  }

  @Test func `runs all chapters in the order of the list`() throws {
    let folder = try MadeFolder()
    let list = try RunningTour("--list").end()
    let names = list.output.split(separator: "\n").map { $0.prefix { $0 != " " } }
    #expect(names.map(String.init) == Chapter.all.map(\.name))
    let end = try RunningTour(folder.path, "--short").end()
    #expect(end.ending == .exited(0), "\(end.output)\(end.errors)")
    let titles = Chapter.all.map { "\($0.name): \($0.summary)" }
    #expect(end.output.split(separator: "\n").map(String.init).filter(titles.contains) == titles)
  }

  @Test func `works on a single file, and on an empty folder`() throws {
    let folder = try MadeFolder()
    let empty = try RunningTour(folder.path, "checksums").end()
    #expect(empty.ending == .exited(0))
    #expect(empty.output.contains("\n  0 files, 0.0 MB\n"))
    let single = try RunningTour(try folder.file("single", [1, 2]), "checksums").end()
    #expect(single.ending == .exited(0))
    #expect(single.output.contains("\n  1 files, 0.0 MB\n"))
  }

  @Test func `counts what it may not read and continues`() throws {
    if geteuid() == 0 { return }  // root may read everything
    let folder = try MadeFolder()
    let secret = try folder.file("secret", [1])
    try folder.file("open", [2])
    chmod(secret, 0)
    let end = try RunningTour(folder.path, "checksums").end()
    #expect(end.ending == .exited(0))
    #expect(end.output.contains("left out: cannot open '\(secret)': Permission denied."))
  }

  @Test(arguments: [
    (["--nonsense"], "there is no option '--nonsense'. 'tour --help' lists the options."),
    (["/", "cheksums"], "'cheksums' is no chapter, and PATH is '/'. See 'tour --list'."),
    (["/missing"], "cannot find '/missing': No such file or directory. Name a folder, a file or"),
  ])
  func `says what to do about a wrong command line`(arguments: [String], words: String) throws {
    let tour =
      arguments.count == 2
      ? try RunningTour(arguments[0], arguments[1]) : try RunningTour(arguments[0])
    let end = try tour.end()
    #expect(end.ending == .exited(2))
    #expect(end.output == "")
    #expect(end.errors.hasPrefix("tour: \(words)"))
    #expect(try names(in: tour.temporary.path) == [])
  }

  @Test func `has a help`() throws {
    let end = try RunningTour("--help").end()
    #expect(end.ending == .exited(0))
    #expect(end.output.hasPrefix("Usage: tour "))
  }

  @Test func `fails when a result is wrong, and names it`() throws {
    // Without sh, no child of the chapter can start.
    let tour = try RunningTour(programs: "/nowhere", "restart")
    let end = try tour.end()
    #expect(end.ending == .exited(1))
    #expect(end.output.contains("cannot start 'sh': No such file or directory. Install it, or"))
    #expect(end.output.contains("\n  WRONG: a failure, a kill and a success were seen"))
    #expect(end.output.hasSuffix("\nNot every result is right: see 'WRONG' above.\n"))
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func `stops at Ctrl-C and removes its files`(signal: Int32, code: Int32) throws {
    let folder = try MadeFolder()
    try folder.endlessFile()
    let tour = try RunningTour(folder.path, "checksums")
    #expect(tour.waitForOutput("reading "))
    tour.send(signal)
    let end = try tour.end()
    #expect(end.ending == .exited(code), "\(end.output)\(end.errors)")
    #expect(end.errors == "")
    #expect(try names(in: tour.temporary.path) == [])
  }
}
