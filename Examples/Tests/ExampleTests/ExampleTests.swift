// Each program with real input, in a process of its own, as a user runs it.
import Foundation
import Testing

@Suite("The example", .timeLimit(.minutes(30))) struct ExampleTests {
  @Test func `hash finds every file, and keeps to its bound`() throws {
    let folder = try Folder()
    for index in 0..<200 {
      try folder.write(
        "\(index % 10)/file \(index)", String(repeating: "line \(index % 2)\n", count: index))
    }
    let end = try Running("hash", ["--open", "3", folder.path]).end()
    #expect(end.status == 0)
    #expect(end.lines.count == 200)
    // FNV-1a of no bytes is its offset basis; of "a", a published test vector.
    #expect(end.lines.contains("cbf29ce484222325 \(folder["0/file 0"])"))
    let words = try #require(end.errorLines.last).split(separator: " ")
    #expect(words.starts(with: ["hash:", "200", "files,"]))
    #expect((1...3).contains(Int(words[5]) ?? 0), "\(words)")
    try folder.write("a", "a")
    #expect(try Running("hash", [folder["a"]]).end().lines == ["af63dc4c8601ec8c \(folder["a"])"])
    let missing = try Running("hash", [folder["missing"]]).end()
    #expect(missing.status == 1)
    #expect(
      missing.errorLines.first
        == "hash: cannot read '\(folder["missing"])': No such file or directory")
  }

  @Test func `follow prints what is appended, before and after a new file`() throws {
    let folder = try Folder()
    try folder.write("log", "old\n")
    let program = try Running("follow", [folder["log"]])
    #expect(program.line() == "old")
    try folder.append("log", "one\ntw")
    #expect(program.line() == "one")
    try folder.append("log", "o\n")
    #expect(program.line() == "two")
    rename(folder["log"], folder["log.1"])
    try folder.write("new", "three\n")
    rename(folder["new"], folder["log"])
    #expect(program.line() == "three")
    try folder.append("log", "four\n")
    #expect(program.line() == "four")
    program.send(SIGTERM)
    let end = program.end()
    #expect(end.status == 0)
    #expect(end.errorLines.last == "follow: 5 lines")
  }

  @Test func `supervise starts a failing command again, and gives up`() throws {
    let folder = try Folder()
    try folder.write("count", "")
    // Succeeds at the third start.
    let command = "echo x >>'\(folder["count"])'; test $(wc -l <'\(folder["count"])') -ge 3"
    let end = try Running("supervise", ["--limit", "4", command]).end()
    #expect(end.status == 0, "\(end.errorLines)")
    #expect(try String(contentsOfFile: folder["count"], encoding: .utf8) == "x\nx\nx\n")
    let failing = try Running("supervise", ["--limit", "2", "exit 3", "true"]).end()
    #expect(failing.status == 1)
    #expect(
      failing.errorLines.filter { $0 == "supervise: 'exit 3' ended with status 3" }.count == 3)
    #expect(failing.errorLines.contains("supervise: gave up on 'exit 3'"))
  }

  @Test func `supervise ends its children when it is ended`() throws {
    let program = try Running("supervise", ["exec sleep 1000"])
    #expect(program.errorLine()?.hasPrefix("supervise: started 'exec sleep 1000' as ") == true)
    program.send(SIGTERM)
    let end = program.end()
    #expect(end.status == 0)
    #expect(end.errorLines == ["supervise: 'exec sleep 1000' ended with signal 15"])
  }

  @Test func `cache answers every look-up right`() throws {
    let end = try Running("cache", ["20000"]).end()
    #expect(end.status == 0)
    #expect(end.lines.first?.hasPrefix("20000 look-ups, 0 wrong, ") == true, "\(end.lines)")
    let kept = end.lines.first.flatMap { Int($0.split(separator: " ")[4]) }
    #expect((1...200).contains(kept ?? 0))
  }

  @Test func `thumbnails shrinks each picture, and says what is none`() throws {
    let (from, to) = (try Folder(), try Folder())
    for index in 0..<20 {
      let (width, height) = (200 + index, 100)
      try from.write("\(index).ppm", picture(width, height, [UInt8(index), 100, 200]))
    }
    try from.write("broken.ppm", "P6 10 10 255\nshort")
    try from.write("other.txt", "no picture")
    let end = try Running("thumbnails", [from.path, to.path, "7.ppm"]).end()
    #expect(end.status == 1)
    #expect(end.lines.last == "20 made, 1 failed, 0 cancelled")
    #expect(end.lines.contains("failed broken.ppm"))
    // A picture of one colour keeps it.
    let small = try Data(contentsOf: to.url.appendingPathComponent("7.ppm"))
    #expect(small == picture(51, 25, [7, 100, 200]))
  }

  @Test func `thumbnails runs nothing that was cancelled before it began`() throws {
    let (from, to) = (try Folder(), try Folder())
    try from.write("0.ppm", picture(1500, 1500, [9, 9, 9]))
    for index in 1..<40 {
      try FileManager.default.linkItem(atPath: from["0.ppm"], toPath: from["\(index).ppm"])
    }
    let program = try Running("thumbnails", [from.path, to.path])
    #expect(program.line()?.hasPrefix("made ") == true)
    program.send(SIGINT)
    let end = program.end()
    // However late the signal comes, each picture is counted once, and each that was made is whole.
    let numbers = try #require(end.lines.last).split(separator: " ").compactMap { Int($0) }
    #expect(numbers.count == 3 && numbers.reduce(0, +) == 40, "\(end.lines)")
    #expect(end.status == (numbers[2] == 0 ? 0 : 1))
    #expect(try FileManager.default.contentsOfDirectory(atPath: to.path).count == numbers[0])
  }

  /// The file of a picture of one colour.
  private func picture(_ width: Int, _ height: Int, _ colour: [UInt8]) -> Data {
    var data = Data("P6\n\(width) \(height)\n255\n".utf8)
    for _ in 0..<width * height { data.append(contentsOf: colour) }
    return data
  }

  @Test func `serve sends files, and says what it has not`() async throws {
    let folder = try Folder()
    let large = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try folder.write("large", large)
    try folder.write("sub/small", "small\n")
    let program = try Running("serve", [folder.path])
    let address = try #require(program.errorLine()?.dropFirst("serve: ".count))
    func get(_ path: String) -> [String] {
      let curl = Process()
      let output = Pipe()
      curl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      let file = folder["answer"]
      curl.arguments = [
        "curl", "-s", "--path-as-is", "-o", file, "-w", "%{http_code} %{size_download}",
        address + path,
      ]
      curl.standardOutput = output
      guard (try? curl.run()) != nil else { return [] }
      let data = output.fileHandleForReading.readDataToEndOfFile()
      curl.waitUntilExit()
      return String(decoding: data, as: UTF8.self).split(separator: " ").map(String.init)
    }
    #expect(get("large") == ["200", "1000000"])
    #expect(try Data(contentsOf: folder.url.appendingPathComponent("answer")) == large)
    #expect(get("sub/small") == ["200", "6"])
    #expect(get("missing") == ["404", "10"])
    #expect(get("../etc/passwd") == ["404", "10"])
    #expect(get("sub") == ["404", "10"])
    program.send(SIGTERM)
    #expect(program.end().status == 0)
  }

  @Test func `embed counts words on one engine`() throws {
    let folder = try Folder()
    for index in 1...20 {
      try folder.write("\(index)", String(repeating: "word ", count: index))
    }
    let end = try Running("embed", (1...20).map { folder["\($0)"] }).end()
    #expect(end.status == 0, "\(end.errorLines)")
    #expect(Set(end.lines.dropLast()) == Set((1...20).map { "\($0) \(folder["\($0)"])" }))
    #expect(end.lines.last == "one engine: true")
  }
}
