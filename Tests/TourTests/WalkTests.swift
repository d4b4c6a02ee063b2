// Purpose: the walk finds every file, and every engine finds the same.

import Glibc
import Testing
import TourJob
import TourJobDispatch
import TourKit

@Suite("A folder's listing") struct ListingTests {
  @Test func `tells files, folders and the rest apart`() throws {
    let folder = try MadeFolder()
    try folder.file("one")
    try folder.file(".hidden")
    try folder.folder("sub")
    folder.link("link", to: "one")
    _ = folder.path.appending("fifo").withCString { mkfifo($0, 0o600) }
    let listing = try FolderListing(of: folder.path)
    #expect(
      listing.files.sorted() == [".hidden", "one"].map { folder.path.appending($0) })
    #expect(listing.folders == [folder.path.appending("sub")])
    #expect(listing.others == 2)
    #expect(listing.links == [folder.path.appending("link")])
  }

  @Test func `keeps names that are not UTF-8`() throws {
    let folder = try MadeFolder()
    let name: [UInt8] = [0xC3, 0x28, 0xFE]
    let file = try folder.file(at: folder.path.appending(name: name, count: 3), [9])
    let listing = try FolderListing(of: folder.path)
    #expect(listing.files == [file])
    #expect(listing.files.first?.bytes.suffix(3).elementsEqual(name) == true)
  }

  @Test func `says why a folder cannot be read`() throws {
    let missing = try MadeFolder().path.appending("missing")
    #expect(throws: FileFault(path: missing, code: ENOENT)) { try FolderListing(of: missing) }
  }

  @Test func `of a path knows parents and extensions`() {
    #expect(Path("/a/b.tar.GZ").fileExtension == "gz")
    #expect(Path("/a.d/b").fileExtension == "")
    #expect(Path("/a/.profile").fileExtension == "")
    #expect(Path("/a/b").parent == Path("/a"))
    #expect(Path("/a").parent == Path("/"))
    #expect(Path("/").appending("a") == Path("/a"))
  }
}

@Suite("The job", .timeLimit(.minutes(3))) struct JobTests {
  @Test(arguments: Engine.allCases)
  func `finds every file once`(engine: Engine) async throws {
    let folder = try MadeFolder()
    try folder.fill()
    let findings = await engine.report(on: folder.path).findings
    #expect(findings.files.count == MadeFolder.filledFiles)
    #expect(Set(findings.files.map(\.path)).count == MadeFolder.filledFiles)
    #expect(findings.folders == MadeFolder.filledFolders)
    #expect(findings.others == 2)
    #expect(findings.faults.isEmpty)
    #expect(findings.kinds.map(\.kind) == [.header, .other, .source])
  }

  @Test(arguments: Engine.concurrent, [1, 2, 64])
  func `finds what the serial loop finds`(engine: Engine, descriptorLimit: Int) async throws {
    let folder = try MadeFolder()
    try folder.fill()
    let serial = await Engine.serial.report(on: folder.path)
    let concurrent = await engine.report(on: folder.path, descriptorLimit: descriptorLimit)
    #expect(concurrent.findings == serial.findings)
    #expect(!concurrent.isPartial)
  }

  @Test(arguments: Engine.allCases)
  func `works on a single file and on an empty folder`(engine: Engine) async throws {
    let folder = try MadeFolder()
    let file = try folder.file("single.swift", Array("123456789".utf8))
    let single = await engine.report(on: file).findings
    #expect(
      single.files == [FileRecord(path: file, checksum: 930_766_865, count: 9, kind: .source)])
    let empty = await engine.report(on: try folder.folder("empty")).findings
    #expect(empty.files.isEmpty && empty.folders == 1)
  }

  @Test(arguments: Engine.allCases)
  func `reports what cannot be read and goes on`(engine: Engine) async throws {
    let missing = try MadeFolder().path.appending("missing")
    let findings = await engine.report(on: missing).findings
    #expect(findings.faults == [FileFault(path: missing, code: ENOENT)])
  }

  @Test(arguments: Engine.concurrent)
  func `stops within a piece when cancelled`(engine: Engine) async throws {
    let folder = try MadeFolder()
    try folder.endlessFile("endless")
    // Every piece of the file triggers a drawing, and the drawing cancels the job.
    let gauge = Gauge(intervalNanoseconds: 0)
    let cancel = CancelButton()
    let report = await withCheckedContinuation { continuation in
      if engine == .dispatch {
        let job = TourJobDispatch.ConcurrentJob(
          root: folder.path, descriptorLimit: 4, gauge: gauge, draw: cancel.press)
        cancel.action = job.cancel
        job.start { continuation.resume(returning: $0) }
      } else {
        let job = TourJob.ConcurrentJob(
          root: folder.path, descriptorLimit: 4, gauge: gauge, draw: cancel.press)
        cancel.action = job.cancel
        job.start { continuation.resume(returning: $0) }
      }
    }
    #expect(report.isPartial)
    #expect(report.findings.files.isEmpty)
    cancel.action = nil
  }
}

/// An action that can be passed on before it is set.
// SAFETY: `action` is set before the job starts and cleared after it has ended.
private final class CancelButton: @unchecked Sendable {
  var action: (@Sendable () -> Void)?

  @Sendable func press() {
    action?()
  }
}

@Suite("A report") struct ReportTests {
  @Test func `travels whole or not at all`() {
    var findings = Findings()
    findings.files = [
      FileRecord(path: Path(bytes: [47, 0xFF, 10]), checksum: 7, count: 1 << 40, kind: .header)
    ]
    findings.faults = [FileFault(path: Path("/x y"), code: EACCES)]
    findings.folders = 3
    findings.others = 4
    var costs = Costs()
    costs.seconds = 0.125
    costs.peakThreads = 9
    costs.peakMemoryBytes = 1 << 33
    let report = RunReport(findings: findings, costs: costs, isPartial: true)
    let bytes = report.encoded
    #expect(RunReport(encoded: bytes) == report)
    for count in 0..<bytes.count {
      #expect(RunReport(encoded: Array(bytes.prefix(count))) == nil)
    }
  }

  @Test func `words numbers as people read them`() {
    #expect(Wording.count(1_234_567, "file") == "1,234,567 files")
    #expect(Wording.count(1, "file") == "1 file")
    #expect(Wording.count(-1234) == "-1,234")
    #expect(Wording.decimal(-0.05, places: 2) == "-0.05")
    #expect(Wording.decimal(1.996, places: 2) == "2.00")
    #expect(Wording.seconds(0.0123) == "0.012 s")
    #expect(Wording.seconds(0.00123) == "0.00123 s")
    #expect(Wording.bytes(999) == "999 B")
    #expect(Wording.bytes(1000) == "1.0 kB")
    #expect(Wording.bytes(999_940_000_000) == "1.0 TB")
  }
}
