// Purpose: tests of the components of the chapter on classes: what its scenes read and send, and
// how it describes the kernel's view of a thread.

import Glibc
import GrandCentral
import Testing
import TourKit

@testable import TourChapters

@Suite("Pieces of files") struct FilePiecesTests {
  @Test func `are all that is in the files, in the order of their paths`() throws {
    let folder = try MadeFolder()
    try folder.file("b", .init(repeating: 2, count: FilePieces.maxBytes + 1))
    try folder.file("a", [1])
    try folder.file("empty")
    try folder.folder("deeper")
    try folder.file("deeper/c", [3, 3])
    let found = FilePieces(below: folder.path)
    #expect(found.files == 3)
    #expect(found.pieces.map(\.count) == [1, FilePieces.maxBytes, 1, 2])
    #expect(found.pieces.map(\.offset) == [0, 0, FilePieces.maxBytes, 0])
    #expect(found.pieces[0].checksum == PosixChecksum.of([1]))
    #expect(found.pieces[3].checksum == PosixChecksum.of([3, 3]))
  }

  @Test func `are those of one file, or of the running program`() throws {
    let folder = try MadeFolder()
    #expect(FilePieces(below: try folder.file("one", [7])).pieces.count == 1)
    let none = try MadeFolder()
    let own = FilePieces(below: none.path)
    #expect(own.files == 1)
    #expect(own.pieces[0].path.description == "/proc/self/exe")
  }

  @Test func `are no more than are wanted, of however long a file`() throws {
    let folder = try MadeFolder()
    try folder.endlessFile("endless")
    #expect(FilePieces(below: folder.path).pieces.count == 64)
  }

  @Test func `tell when a file has changed`() throws {
    let folder = try MadeFolder()
    let file = try folder.file("a", [1, 2, 3])
    let before = FilePieces(below: folder.path)
    #expect(before.pieces[0].isSame())
    #expect(before.scan(from: 5, processorMilliseconds: 0).changed == 0)
    try folder.file(at: file, [1, 2, 4])
    #expect(!before.pieces[0].isSame())
    #expect(FilePieces(below: folder.path).digest != before.digest)
    let scanned = before.scan(from: 0, processorMilliseconds: 0)
    #expect((scanned.pieces, scanned.bytes, scanned.changed) == (1, 3, 1))
  }
}

@Suite("A scene's process") struct SceneProcessTests {
  @Test(arguments: Scene.allCases, [Engine.grandCentral, .dispatch])
  func `is asked for what was meant`(scene: Scene, engine: Engine) throws {
    let root = Path(bytes: [47, 0xFF, 32])
    let request = SceneRequest(scene, on: engine, root: root)
    let back = try #require(SceneRequest(arguments: request.arguments))
    #expect((back.scene, back.engine, back.root) == (scene, engine, root))
    #expect(SceneRequest(arguments: Array(request.arguments.dropLast())) == nil)
    #expect(ChapterRequest(arguments: request.arguments) == nil)
    #expect(EngineRequest(arguments: request.arguments) == nil)
  }

  @Test func `plays on a concurrent engine only`() {
    let request = SceneRequest(.requests, on: .serial, root: Path("/"))
    #expect(SceneRequest(arguments: request.arguments) == nil)
  }

  @Test func `sends a report that is read as it was meant`() throws {
    var report = SceneReport()
    report.times = ["alone": [3, 1, .max], "beside": []]
    report.counts = ["files": 0, "pieces": 12]
    #expect(SceneReport(encoded: report.encoded) == report)
    #expect(SceneReport(encoded: SceneReport().encoded) == SceneReport())
    // A truncated report is never accepted as whole.
    for length in 0..<report.encoded.count {
      #expect(SceneReport(encoded: String(report.encoded.prefix(length))) == nil)
    }
    for line in ["times a 1 x", "count a", "count a 1 2", "count a -1", "what a 1", "times"] {
      #expect(SceneReport(encoded: line + "\nend\n") == nil, "\(line)")
    }
  }

  @Test(arguments: Scene.allCases, [Engine.grandCentral, .dispatch])
  func `sends all that belongs to its scene`(scene: Scene, engine: Engine) throws {
    let folder = try MadeFolder()
    try folder.fill()
    let end = try Child.tour(SceneRequest(scene, on: engine, root: folder.path).arguments).end()
    #expect(end.code == 0, "\(end.errors)")
    let report = try #require(SceneReport(encoded: end.output))
    #expect(report.counts["files"] == MadeFolder.filledFiles - 24)
    let lists =
      switch scene {
      case .requests:
        RequestKind.allCases.flatMap { kind in
          ["alone", "beside"].map { ("\(kind)-\($0)", kind.count) }
        }
      case .inversions: ["alone", "async", "sync"].map { ($0, Scene.rounds) }
      }
    #expect(report.times.mapValues(\.count) == Dictionary(uniqueKeysWithValues: lists))
  }

  @Test func `has the environment that it is given`() {
    func ends(_ spawn: Spawn) -> Int32? {
      guard case .success(.exited(let code)) = WatchedProgram.run(spawn) else { return nil }
      return code
    }
    // PATH is set already; the child must have it once.
    let words = ["-c", "test \"$PATH $TOUR_TEST\" = '/nowhere new one'"].map { Path($0) }
    let spawn = Spawn("/bin/sh", words)
    #expect(ends(spawn) == 1)
    #expect(ends(spawn.setting("PATH", "/nowhere").setting("TOUR_TEST", "new one")) == 0)
  }
}

@Suite("The kernel's view of a thread") struct ThreadViewTests {
  private let plain = ThreadView(policy: 0, nice: 3)

  @Test func `changes by each control that it shows`() {
    #expect(plain.with(.schedulingPolicy, "SCHED_BATCH") == ThreadView(policy: 3, nice: 3))
    #expect(plain.with(.niceLevel, "+10") == ThreadView(policy: 0, nice: 13))
    #expect(ThreadView(policy: 0, nice: 12).with(.niceLevel, "+10").nice == 19)
    #expect(plain.with(.timerSlack, "10 ms") == plain)
    #expect("\(plain)" == "SCHED_OTHER, nice 3")
    #expect("\(plain.with(.schedulingPolicy, ""))" == "SCHED_BATCH, nice 3")
  }

  @Test func `changes by what takes effect, and not by what was refused`() {
    let effects = DispatchQoS.QoSClass.background.effects
    let controls = Set(effects.filter { $0.refusal == nil }.map(\.control))
    #expect((plain.with(effects).policy == 3) == controls.contains(.schedulingPolicy))
    #expect((plain.with(effects).nice == 13) == controls.contains(.niceLevel))
    #expect(plain.with(effects.filter { $0.refusal != nil }) == plain)
  }
}
