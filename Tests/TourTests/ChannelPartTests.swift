// Purpose: tests of the components of the channel chapters.

import Glibc
import GrandCentral
import Testing
import TourKit

@testable import TourChapters

@Suite("A transliteration") struct TransliterationTests {
  @Test func `changes what tr changes, and nothing else`() {
    let rule = Transliteration("a-z", "A-Z")
    #expect((0..<128).map { rule(UInt8($0)) }.elementsEqual((0..<128).map(upperCased)))
    #expect((128...255).allSatisfy { rule(UInt8($0)) == UInt8($0) })
    let other = Transliteration("a-c-", "xyz+")
    #expect("a-bcd".utf8.map { other($0) } == Array("x+yzd".utf8))
  }

  private func upperCased(_ byte: Int) -> UInt8 {
    UInt8(97...122 ~= byte ? byte - 32 : byte)
  }

  @Test func `does not depend on how the data is cut`() {
    let rule = Transliteration("a-z", "A-Z")
    let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 167) }
    // Pieces shorter than a buffer, and as long as one; the buffers are reused.
    let buffers = SpareBuffers(bufferBytes: 10_000)
    for step in [1, 7, 4096, 10_000] {
      var data = DispatchData.empty
      for start in stride(from: 0, to: bytes.count, by: step) {
        bytes[start..<min(start + step, bytes.count)].withUnsafeBytes { data.append($0) }
      }
      #expect(Array(rule(data, in: buffers)) == bytes.map { rule($0) })
    }
    #expect(rule(.empty, in: buffers).isEmpty)
  }
}

@Suite("A long file") struct LongFileTests {
  @Test(arguments: [1, 99_999, 2_500_000])
  func `is as long as asked for, of files' bytes over and over`(count: Int) throws {
    let folder = try MadeFolder()
    let text = Array("0123456789".utf8)
    try folder.file("a", text)
    let file = folder.path.appending("long")
    let made = try LongFile.make(file, of: count, from: folder.path.appending("a")).get()
    #expect((made.bytes, made.files) == (min(10, count), 1))
    let bytes = try content(of: file)
    #expect(bytes.count == count)
    #expect(bytes.indices.allSatisfy { bytes[$0] == text[$0 % 10] })
  }

  @Test func `is made of all files below the folder`() throws {
    let folder = try MadeFolder()
    try folder.fill()
    let other = try MadeFolder()
    let file = other.path.appending("long")
    let made = try LongFile.make(file, of: 3_000_000, from: folder.path).get()
    let tree = try FolderTree(of: folder.path)
    #expect(made.bytes == tree.bytes)
    #expect(made.files == tree.files.count { $0.bytes > 0 })
    #expect(try content(of: file).count == 3_000_000)
  }

  @Test func `tells why it cannot be made`() throws {
    let folder = try MadeFolder()
    let file = try folder.file("there", [1])
    #expect(throws: FileFault(path: file, code: EEXIST)) {
      try LongFile.make(file, of: 5, from: file).get()
    }
  }
}

@Suite("A flow from channel to channel", .timeLimit(.minutes(5))) struct ChannelFlowTests {
  @Test(arguments: [0, 1, 1 << 20, 1 << 20 + 1, 12_345_678])
  func `moves every byte, with few under way`(count: Int) throws {
    let folder = try MadeFolder()
    let source = try folder.file("source", (0..<count).map { UInt8(truncatingIfNeeded: $0 / 3) })
    let target = folder.path.appending("target")
    let outcome = ended(ChannelFlow(from: source, to: target))
    #expect(outcome.fault == nil)
    #expect((outcome.bytesRead, outcome.bytesWritten) == (count, count))
    #expect(outcome.maxBytesHeld <= ChannelFlow.heldBytesLimit + ChannelFlow.pieceBytes)
    let areSame = try content(of: target) == content(of: source)
    #expect(areSame)
  }

  @Test func `halts its reader while nobody takes what is written`() throws {
    let folder = try MadeFolder()
    let source = try folder.file("source", holding: 30 << 20)
    let fifo = folder.path.appending("fifo")
    _ = fifo.withCString { mkfifo($0, 0o600) }
    let reader = fifo.withCString { open($0, O_RDONLY | O_NONBLOCK | O_CLOEXEC) }
    defer { close(reader) }
    _ = fcntl(reader, F_SETFL, 0)
    let flow = ChannelFlow(from: source, to: fifo, targetFlags: O_WRONLY)
    let outcome = ended(flow) {
      flow.halts.wait()
      var piece = [UInt8](repeating: 0, count: 1 << 16)
      var taken = 0
      while taken < 30 << 20 {
        let count = read(reader, &piece, piece.count)
        if count <= 0 { break }
        taken += count
      }
    }
    #expect(outcome.fault == nil)
    #expect(outcome.bytesWritten == 30 << 20)
    #expect(outcome.pauses > 0)
    let most = ChannelFlow.heldBytesLimit + ChannelFlow.pieceBytes
    #expect((ChannelFlow.heldBytesLimit...most).contains(outcome.maxBytesHeld))
  }

  @Test func `says which file failed, and why`() throws {
    let folder = try MadeFolder()
    let file = try folder.file("file", [1])
    let missing = folder.path.appending("missing")
    let noSource = ended(ChannelFlow(from: missing, to: folder.path.appending("new")))
    #expect(noSource.fault == FileFault(path: missing, code: ENOENT))
    let isThere = ended(ChannelFlow(from: file, to: file))
    #expect(isThere.fault == FileFault(path: file, code: EEXIST))
    let nowhere = missing.appending("new")
    let noFolder = ended(ChannelFlow(from: file, to: nowhere))
    #expect(noFolder.fault == FileFault(path: nowhere, code: ENOENT))
    let noPath = ended(ChannelFlow(from: Path("relative"), to: missing))
    #expect(noPath.fault?.code == EINVAL)
  }

  @Test func `stops reading when nothing can be written`() throws {
    let folder = try MadeFolder()
    let source = try folder.file("source", holding: 64 << 20)
    let full = Path("/dev/full")
    let outcome = ended(ChannelFlow(from: source, to: full, targetFlags: O_WRONLY))
    #expect(outcome.fault == FileFault(path: full, code: ENOSPC))
    #expect(outcome.bytesWritten == 0)
    #expect(outcome.bytesRead < 64 << 20)
  }

  /// Runs the flow to its end, and `meanwhile` at the same time.
  private func ended(_ flow: ChannelFlow, _ meanwhile: () -> Void = {}) -> ChannelFlow.Outcome {
    let isOver = DispatchSemaphore(value: 0)
    // SAFETY: written once, before the signal for which the reading thread waits.
    nonisolated(unsafe) var outcome = ChannelFlow.Outcome()
    flow.start { result in
      outcome = result
      isOver.signal()
    }
    meanwhile()
    isOver.wait()
    return outcome
  }
}

@Suite("A copied folder", .timeLimit(.minutes(5))) struct FolderCopyTests {
  @Test func `is the largest that is not too much`() throws {
    let folder = try MadeFolder()
    try folder.folder("a")
    try folder.folder("a/b")
    for index in 0..<3 { try folder.file("a/b/\(index)", [1, 2]) }
    try folder.file("a/more", [1])
    try folder.file("large", holding: 1000)
    let (a, b) = (folder.path.appending("a"), folder.path.appending("a/b"))
    #expect(FolderChoice().choose(below: folder.path) == folder.path)
    #expect(FolderChoice(maxBytes: 999).choose(below: folder.path) == a)
    #expect(FolderChoice(maxFiles: 3).choose(below: folder.path) == b)
    #expect(FolderChoice(maxFiles: 2).choose(below: folder.path) == nil)
    #expect(FolderChoice(maxFolders: 2).choose(below: folder.path) == nil)
    #expect(FolderChoice().choose(below: a.appending("more")) == a.appending("more"))
    // A copy of a FIFO may not be a FIFO.
    _ = a.appending("fifo").withCString { mkfifo($0, 0o600) }
    #expect(FolderChoice().choose(below: folder.path) == b)
  }

  @Test func `has every file, folder and link, whatever their names`() throws {
    let folder = try MadeFolder()
    try folder.fill()
    try folder.file(at: folder.path.appending(name: [0xC3, 0x28, 0xFE], count: 3), [9])
    folder.link("nowhere", to: "/nowhere/at all")
    let choice = try #require(FolderChoice().choose(below: folder.path.appending("folder 1")))
    #expect(choice == folder.path.appending("folder 1"))
    _ = folder.path.appending("fifo").withCString { unlink($0) }
    let tree = try FolderTree(of: folder.path)
    let target = try MadeFolder().path
    let outcome = FolderCopy(of: tree, to: target, progress: progress(tree)).run()
    #expect(outcome.faults == [])
    #expect((outcome.files, outcome.bytes) == (tree.files.count, tree.bytes))
    #expect(outcome.maxAtOnce == FolderCopy.maxAtOnce)
    #expect(CopyComparison.isSame(folder.path, target))
    #expect(CopyComparison.diff(folder.path, target) != false)
    Leavings.shared.remove(target)
    #expect(EntryKind(of: target) == .other)
  }

  @Test func `that differs in anything is found out`() throws {
    let (one, other) = (try MadeFolder(), try MadeFolder())
    for folder in [one, other] {
      try folder.folder("inner")
      try folder.file("inner/a", [1, 2, 3])
      folder.link("link", to: "inner")
    }
    func areSame() -> [Bool?] {
      [CopyComparison.isSame(one.path, other.path), CopyComparison.diff(one.path, other.path)]
    }
    #expect(!areSame().contains(false))
    try other.file("more")
    #expect(!areSame().contains(true))
    _ = other.path.appending("more").withCString { unlink($0) }
    try other.file("inner/a", [1, 2, 4])
    #expect(!areSame().contains(true))
    try other.file("inner/a", [1, 2, 3])
    _ = other.path.appending("link").withCString { unlink($0) }
    other.link("link", to: "elsewhere")
    #expect(!areSame().contains(true))
  }

  @Test func `tells what it could not copy, and copies the rest`() throws {
    let folder = try MadeFolder()
    for index in 0..<40 { try folder.file("\(index)", [UInt8(index)]) }
    let tree = try FolderTree(of: folder.path)
    let gone = folder.path.appending("7")
    _ = gone.withCString { unlink($0) }
    let target = try MadeFolder()
    let outcome = FolderCopy(
      of: tree, to: target.path.appending("copy"), progress: progress(tree)
    ).run()
    #expect(outcome.faults == [FileFault(path: gone, code: ENOENT)])
    #expect(outcome.files == 39)
  }

  private func progress(_ tree: FolderTree) -> CopyProgress {
    let report = ChapterReport(screen: Screen(plain: true))
    report.mute()
    return CopyProgress(report, files: tree.files.count, bytes: tree.bytes)
  }
}

private func content(of file: Path) throws -> [UInt8] {
  let descriptor = file.withCString { open($0, O_RDONLY | O_CLOEXEC) }
  guard descriptor >= 0 else { throw FileFault(path: file, code: errno) }
  defer { close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: Int(lseek(descriptor, 0, SEEK_END)))
  let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
  return Array(bytes.prefix(count))
}
