// Purpose: tests of the components of the live chapters that need no process.

import Glibc
import Testing
import TourKit

@testable import TourChapters

@Suite("The parts of a chapter") struct ChapterPartTests {
  @Test func `the table of redis-benchmark is read by its headings`() throws {
    let csv = """
      "test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"
      "ECHO hello","42372.88","0.732","0.016","0.575","1.199","3.783","27.711"\r

      """
    let figures = try #require(RedisLoad.Figures(csv: csv))
    #expect(figures.perSecond == 42372.88)
    #expect(figures.halfMilliseconds == 0.575)
    #expect(figures.maxMilliseconds == 3.783)
  }

  @Test(arguments: [
    "", "\n", "\"test\",\"rps\"\n", "\"test\",\"rps\"\n\"ECHO\",\"1\"\n", "no table",
  ])
  func `what is no such table is refused`(csv: String) {
    #expect(RedisLoad.Figures(csv: csv) == nil)
  }

  @Test func `a percentile is the time that a share stays below`() {
    let times = Percentiles(nanoseconds: Array((1...100).reversed()))
    #expect(times.nanoseconds(at: 0) == 1)
    #expect(times.nanoseconds(at: 0.5) == 50)
    #expect(times.nanoseconds(at: 0.99) == 99)
    #expect(times.nanoseconds(at: 1) == 100)
    #expect(Percentiles(nanoseconds: []).nanoseconds(at: 0.5) == 0)
    #expect(Percentiles(nanoseconds: [1_500_000]).words.contains("99 % 1.50 ms"))
  }

  @Test func `no two messages of a load are the same line`() {
    var seen: Set<[UInt8]> = []
    for client in 0..<50 {
      for number in 0..<40 {
        let line = LoadClients.line(client: client, number: number)
        #expect(16...LoadClients.longest ~= line.count)
        #expect(line.firstIndex(of: 10) == line.count - 1)
        #expect(seen.insert(line).inserted)
        #expect(line == LoadClients.line(client: client, number: number))
      }
    }
  }

  @Test func `files are picked from the smallest to the largest, empty ones left out`() throws {
    let folder = try MadeFolder()
    try folder.folder("deeper")
    for size in 0..<30 {
      try folder.file(at: folder.path.appending("deeper/\(size)"), .init(repeating: 7, count: size))
    }
    let files = EchoFiles.pick(5, below: folder.path)
    #expect(files.map(\.count) == [1, 8, 15, 22, 29])
    #expect(EchoFiles.pick(99, below: folder.path).count == 29)
    #expect(EchoFiles.pick(3, below: files[2].path) == [files[2]])
  }

  @Test func `an ending is read from wait's status`() {
    #expect(Ending(status: 3 << 8) == .exited(3))
    #expect(Ending(status: SIGKILL) == .signalled(SIGKILL))
    #expect(Ending(status: SIGABRT | 0x80) == .signalled(SIGABRT))
  }

  @Test(arguments: LiveChapter.allCases)
  func `a request for a chapter comes back as it went`(chapter: LiveChapter) throws {
    let root = Path(bytes: [47, 0xFF, 32])
    let request = ChapterRequest(chapter: chapter, root: root, isPlain: true, megabytes: 7)
    let back = try #require(ChapterRequest(arguments: request.arguments))
    #expect((back.chapter, back.isPlain, back.megabytes) == (chapter, true, 7))
    #expect(back.root == root)
    #expect(ChapterRequest(arguments: Array(request.arguments.dropLast())) == nil)
    #expect(Service(arguments: request.arguments) == nil)
    #expect(Service(arguments: Service(.stays).arguments) == Service(.stays))
  }

  @Test func `a program that cannot be started is told apart from one that fails`() throws {
    let missing = Spawn("/nowhere/at all", [])
    guard case .failure(let fault) = WatchedProgram.run(missing) else {
      Issue.record("it was started")
      return
    }
    #expect(fault.code == ENOENT)
  }

  @Test func `a program that does not end is killed`() throws {
    let endings = WatchedProgram.run([Spawn("sleep", [Path("1000")])], seconds: 0)
    #expect(try endings.map { try $0.get() } == [.signalled(SIGKILL)])
  }
}
