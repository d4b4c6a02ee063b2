import Glibc
import TestSupport
import Testing

/// A prefix with the command and the drop-in library, laid out as `scripts/dev install` does.
private struct Installation {
  let prefix = ScratchFolder()
  var command: String { prefix["bin/grandcentral"] }
  var libraries: String { prefix["lib/grandcentral"] }

  init() throws {
    let library = try DropIn.folder()
    try DropIn.run(["mkdir", "-p", prefix["bin"], libraries])
    try DropIn.run(["cp", "\(buildFolder)/grandcentral", command])
    try DropIn.run(["cp", "\(library)/libdispatch.so", libraries])
  }

  /// The lines that the client prints, run by the command: the library's path, LD_LIBRARY_PATH.
  func lines(
    _ words: [String], _ client: Client, searchPath: String? = nil
  ) throws -> [String] {
    let result = runChild(
      ["env", "-u", "LD_LIBRARY_PATH"] + (searchPath.map { ["LD_LIBRARY_PATH=\($0)"] } ?? [])
        + [command] + words + ["--", client.path])
    try #require(result.status == 0, "\(result)")
    #expect(result.errors.isEmpty || words.first == "record", "\(result)")
    return result.lines
  }
}

private func plain() throws -> Client { try Client(c: "Library.c", compiler: "clang") }

@Suite("An installed grandcentral run") struct InstalledRunTests {
  @Test func `puts a program on the installed library`() throws {
    let installed = try Installation()
    let folder = try #require(realpath(installed.libraries, nil).map { String(cString: $0) })
    let ours = "\(folder)/libdispatch.so"
    #expect(try installed.lines(["run"], plain()) == [ours, folder])
    // Other folders of the path stay.
    #expect(
      try installed.lines(["run"], plain(), searchPath: "/usr/lib") == [ours, "\(folder):/usr/lib"])
    let recording = installed.prefix["recording"]
    #expect(try installed.lines(["record", "-o", recording], plain()) == [ours, folder])
  }

  @Test func `leaves a program that contains the engine, and a library that was chosen`() throws {
    let installed = try Installation()
    let embedding = try Client(c: "Library.c", compiler: "clang", flags: ["-DWITH_NOTE"])
    #expect(try installed.lines(["run"], embedding).last == "unset")
    let chosen = try DropIn.folder()
    #expect(try installed.lines(["run"], plain(), searchPath: chosen).last == chosen)
  }

  @Test func `takes another library, or none, when asked`() throws {
    let installed = try Installation()
    let theirs = try plain()
    #expect(try installed.lines(["run", "--no-dropin"], theirs).last == "unset")
    let other = try #require(realpath(try DropIn.folder(), nil).map { String(cString: $0) })
    let found = try installed.lines(["run", "--dropin", try DropIn.folder()], theirs)
    #expect(found == ["\(other)/libdispatch.so", other])
    let missing = runChild([installed.command, "run", "--dropin", "/usr/share", "--", theirs.path])
    #expect(missing.status == 64, "\(missing)")
    #expect(missing.errors.contains("There is no libdispatch.so in /usr/share."), "\(missing)")
  }

  @Test func `says which library a program keeps by its RPATH`() throws {
    let installed = try Installation()
    let client = try Client(c: "Library.c", compiler: "clang", flags: ["-Wl,--disable-new-dtags"])
    let path = "\(try DropIn.toolchainLibraries())/libdispatch.so"
    let kept = try #require(realpath(path, nil).map { String(cString: $0) })
    let result = runChild(
      ["env", "-u", "LD_LIBRARY_PATH", installed.command, "run", "--", client.path])
    #expect(result.status == 0 && result.lines.first == kept, "\(result)")
    #expect(result.errors.contains("'\(client.path)' finds \(kept) first: its RPATH"), "\(result)")
  }

  @Test func `without an installation, a program keeps its library`() throws {
    let client = try plain()
    let result = runChild(
      ["env", "-u", "LD_LIBRARY_PATH", "\(buildFolder)/grandcentral", "run", "--", client.path])
    #expect(result.status == 0 && result.lines.last == "unset", "\(result)")
  }
}
