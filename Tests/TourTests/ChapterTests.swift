// Purpose: the live chapters as a user meets them: their checks hold, with little and without the
// programs that they would like to have, and nothing stays.

import Glibc
import Testing
import TourChapters
import TourKit

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
        return  // Nothing to do without netcat with.
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

  @Test(
    arguments: [(.echo, "byte for byte"), (.folder, "notes: write")] as [(LiveChapter, String)])
  func `takes away what it made when it is asked to stop`(
    chapter: LiveChapter, line: String
  ) throws {
    let folder = try MadeFolder()
    try folder.fill()
    let temporary = try MadeFolder()
    var child = try Child.chapter(chapter, of: folder.path, temporary: temporary)
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
  /// The tour with one chapter only. env(1) gives it the environment: other tests share ours.
  static func chapter(
    _ chapter: LiveChapter, of root: Path, temporary: MadeFolder? = nil,
    environment: [String] = []
  ) throws -> Child {
    let own = try #require(realpath("/proc/self/exe", nil))
    defer { free(own) }
    let settings = environment + (temporary.map { ["TMPDIR=\($0.path)"] } ?? [])
    let tour = Path(cString: own).parent.appending("tour")
    let words = settings.map { Path($0) } + [tour, Path("--only"), Path(chapter.rawValue), root]
    return try Child(Path("/usr/bin/env"), words)
  }
}
