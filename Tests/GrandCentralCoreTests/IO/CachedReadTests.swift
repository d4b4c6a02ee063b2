// Small reads of bytes in memory: no other thread takes part.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A small read of a file") struct CachedReadTests {
  private static let pages = 100
  private static let pageBytes = 4096

  @Test(.enabled(if: Self.isPossible, "needs a file system with RWF_NOWAIT"))
  func `of bytes in memory is made before the call returns`() {
    let read = PagedFile(pages: Self.pages)
    defer { withExtendedLifetime(read) {} }
    // Some reads may miss: the system may have reclaimed their pages.
    #expect(read.all().count { $0 } > Self.pages / 2)
    #expect(read.results.waitForCount(Self.pages))
    #expect(read.results.all.allSatisfy { $0 })
  }

  @Test func `of bytes that are not in memory comes later`() {
    let read = PagedFile(pages: Self.pages)
    defer { withExtendedLifetime(read) {} }
    read.leaveMemory()
    _ = read.all()
    #expect(read.results.waitForCount(Self.pages))
    #expect(read.results.all.allSatisfy { $0 })
  }

  @Test func `beyond the end of the file returns the end`() {
    let read = PagedFile(pages: 1)
    defer { withExtendedLifetime(read) {} }
    let ended = Latch()
    read.submit(offset: Int64(Self.pageBytes) - 10) { isDone, data, error in
      #expect(error == 0)
      if data?.count == 10 { ended.open() }
    }
    #expect(ended.wait())
    let empty = Latch()
    read.submit(offset: Int64(Self.pageBytes) + 10) { isDone, data, error in
      if isDone && error == 0 && data?.count == 0 { empty.open() }
    }
    #expect(empty.wait())
  }

  private static var isPossible: Bool {
    let file = PagedFile(pages: 1)
    var buffer: [UInt8] = [0]
    return Transfer.readCached(file.descriptor, into: &buffer, 1, at: 0) == .bytes(1)
  }

  /// A file in which each page is filled with a byte of its own.
  private final class PagedFile {
    let results = Log<Bool>()
    let descriptor: Int32
    private let folder = ScratchFolder()
    private let queue = DispatchQueue(label: "pages")
    private let channel: IOChannel
    private let pages: Int

    init(pages: Int) {
      self.pages = pages
      descriptor = folder.file("pages")
      for page in 0..<pages {
        let bytes = [UInt8](repeating: UInt8(page), count: pageBytes)
        #expect(write(descriptor, bytes, pageBytes) == pageBytes)
      }
      guard case .status(let status) = FileStatus.of(descriptor) else { fatalError("fstat") }
      let file = IOFile(descriptor, kind: .stored, identity: status)
      channel = IOChannel(isRandom: true, file: file, queue: queue) { _ in }
      file.channels.append(channel)
    }

    /// The channel is never closed, so the file would keep it. Every read has ended.
    deinit { channel.file.lock.withLock { channel.file.channels.removeAll() } }

    func leaveMemory() {
      fsync(descriptor)
      posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
    }

    /// Submits reads of all pages. Returns, for each read, whether it ended before the submission
    /// returned.
    func all() -> [Bool] {
      (0..<pages).map { page in
        let operation = submit(offset: Int64(page * pageBytes)) { [results] isDone, data, error in
          let isWhole = data?.count == pageBytes && data?.allSatisfy { $0 == UInt8(page) } == true
          if isDone { results.append(isWhole && error == 0) }
        }
        return channel.file.lock.withLock { operation.state == .over }
      }
    }

    @discardableResult
    func submit(offset: Int64, _ handler: @escaping IOOperation.Handler) -> IOOperation {
      let operation = IOOperation(
        .read, of: channel, offset: offset, length: pageBytes, limits: IOLimits(), queue: queue,
        handler: handler)
      channel.file.submit(operation)
      return operation
    }
  }
}
