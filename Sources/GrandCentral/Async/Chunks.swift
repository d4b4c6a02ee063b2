// Purpose: the bytes of a channel as an AsyncSequence of chunks, and of lines.
import Glibc
public import GrandCentralCore

extension DispatchIO {
  /// The bytes of a channel, read in chunks on demand.
  ///
  /// - Source: Swift standard library, `AsyncSequence`.
  public struct Chunks: AsyncSequence, Sendable {
    /// Each element has at least one byte.
    public typealias Element = DispatchData
    /// The error of a read.
    public typealias Failure = DispatchIOError

    let channel: DispatchIO
    let maxBytes: Int

    /// The iterator of a loop.
    ///
    /// - Source: Swift standard library, `AsyncIteratorProtocol`.
    public struct AsyncIterator: AsyncIteratorProtocol {
      let channel: DispatchIO
      let maxBytes: Int
      var offset: off_t = 0
      var isOver = false

      /// Reads the next chunk.
      ///
      /// - Returns: the bytes that are there; `nil` at the end of the file or stream.
      /// - Throws: the error of the read. The sequence has then ended.
      /// - Source: Swift standard library, `AsyncIteratorProtocol.next()`.
      nonisolated(nonsending) public mutating func next() async throws -> DispatchData? {
        try await next(isolation: #isolation)
      }

      /// Reads the next chunk, without leaving the caller's actor.
      ///
      /// - Parameter actor: the caller's actor.
      /// - Returns: the bytes that are there; `nil` at the end of the file or stream.
      /// - Throws: the error of the read. The sequence has then ended.
      /// - Source: Swift standard library, `AsyncIteratorProtocol.next(isolation:)`.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(DispatchIOError) -> DispatchData? {
        if isOver { return nil }
        do throws(DispatchIOError) {
          let chunk = try await channel.read(upTo: maxBytes, at: offset)
          offset += off_t(chunk.count)
          isOver = chunk.isEmpty
          return isOver ? nil : chunk
        } catch {
          isOver = true
          throw error
        }
      }
    }

    /// Returns an iterator, which reads nothing yet.
    ///
    /// - Returns: an iterator over the bytes that come next, for a `.stream` channel; from the
    ///   channel's start, for a `.random` one.
    /// - Source: Swift standard library, `AsyncSequence.makeAsyncIterator()`.
    public func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(channel: channel, maxBytes: maxBytes)
    }
  }

  /// Returns the bytes of the channel as a sequence of chunks, read on demand.
  ///
  /// A chunk is read when the loop asks for it, and never before, so a slow loop holds the writer
  /// back, and a loop that is left has taken no byte that it did not receive. Cancelling the task
  /// ends the loop with `ECANCELED`. Iterate in one task: the reads of two loops alternate.
  ///
  /// - Parameter maxBytes: the maximum size of a chunk in bytes. Stops the process with a message
  ///   if it is below 1. A pipe or socket delivers no more than about 64 KiB at once; for files, a
  ///   mebibyte is faster.
  /// - Returns: the sequence. Each loop over it reads on where the last one stopped, for a
  ///   `.stream` channel.
  /// - Source: `dispatch_io_read(3)`.
  public func chunks(upTo maxBytes: Int = 65_536) -> Chunks {
    require(maxBytes >= 1, "chunks(upTo: \(maxBytes)) of a DispatchIO. Pass 1 or more.")
    return Chunks(channel: self, maxBytes: maxBytes)
  }

  /// The lines of a channel, read on demand.
  ///
  /// - Source: Swift standard library, `AsyncSequence`.
  public struct Lines: AsyncSequence, Sendable {
    /// A line without its end.
    public typealias Element = String
    /// The error of a read, or `EMSGSIZE`.
    public typealias Failure = DispatchIOError

    let chunks: Chunks
    let maxBytes: Int

    /// The iterator of a loop.
    ///
    /// - Source: Swift standard library, `AsyncIteratorProtocol`.
    public struct AsyncIterator: AsyncIteratorProtocol {
      var chunks: Chunks.AsyncIterator
      var splitter: LineSplitter

      /// Reads the next line.
      ///
      /// - Returns: the line without its end; `nil` at the end of the file or stream.
      /// - Throws: the error of the read, or `EMSGSIZE`. The sequence has then ended.
      /// - Source: Swift standard library, `AsyncIteratorProtocol.next()`.
      nonisolated(nonsending) public mutating func next() async throws -> String? {
        try await next(isolation: #isolation)
      }

      /// Reads the next line, without leaving the caller's actor.
      ///
      /// - Parameter actor: the caller's actor.
      /// - Returns: the line without its end; `nil` at the end of the file or stream.
      /// - Throws: the error of the read, or `EMSGSIZE`. The sequence has then ended.
      /// - Source: Swift standard library, `AsyncIteratorProtocol.next(isolation:)`.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(DispatchIOError) -> String? {
        try await splitter.next(from: &chunks).map { String(decoding: $0, as: UTF8.self) }
      }

      /// Reads the next line as bytes, which need not be UTF-8.
      ///
      /// - Parameter actor: the caller's actor.
      /// - Returns: the line without its end; `nil` at the end of the file or stream.
      /// - Throws: the error of the read, or `EMSGSIZE`. The sequence has then ended.
      /// - Source: Swift standard library, `AsyncIteratorProtocol.next(isolation:)`.
      public mutating func nextBytes(
        isolation actor: isolated (any Actor)? = #isolation
      ) async throws(DispatchIOError) -> [UInt8]? {
        try await splitter.next(from: &chunks).map { Array($0) }
      }
    }

    /// Returns an iterator, which reads nothing yet.
    ///
    /// - Returns: the iterator. It keeps the bytes behind its last line, so read the channel with
    ///   one iterator.
    /// - Source: Swift standard library, `AsyncSequence.makeAsyncIterator()`.
    public func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(
        chunks: chunks.makeAsyncIterator(), splitter: LineSplitter(maxBytes: maxBytes))
    }
  }

  /// Returns the lines of the channel, read on demand.
  ///
  /// A line ends with a line feed, which is not part of it, nor is a carriage return right before
  /// it. The last line need not have an end; a stream that ends with a line feed has no empty line
  /// behind it. Bytes that are not UTF-8 become U+FFFD: `nextBytes()` of the iterator returns them
  /// as they are. At most one chunk is read ahead of the loop.
  ///
  /// - Parameter maxBytes: the maximum length of a line in bytes, without its line feed. A longer
  ///   one ends the sequence with `EMSGSIZE`, so memory is bounded whatever the peer sends. A value
  ///   below 1 stops the process.
  /// - Returns: the sequence.
  /// - Source: `dispatch_io_read(3)`.
  public func lines(maxBytes: Int = 1 << 20) -> Lines {
    require(maxBytes >= 1, "lines(maxBytes: \(maxBytes)) of a DispatchIO. Pass 1 or more.")
    return Lines(chunks: chunks(), maxBytes: maxBytes)
  }
}

/// Cuts chunks into lines.
struct LineSplitter {
  let maxBytes: Int
  private var bytes: [UInt8] = []
  /// The bytes before this index were returned.
  private var start = 0
  /// No byte between `start` and this index is a line feed.
  private var searched = 0
  private var isOver = false

  init(maxBytes: Int) { self.maxBytes = maxBytes }

  nonisolated(nonsending)
    mutating func next(
      from chunks: inout DispatchIO.Chunks.AsyncIterator
    ) async throws(DispatchIOError) -> ArraySlice<UInt8>?
  {
    while true {
      if let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        if end - start > maxBytes { throw fail() }
        defer {
          start = end + 1
          searched = start
        }
        return line(upTo: end)
      }
      searched = bytes.count
      if bytes.count - start > maxBytes { throw fail() }
      if isOver { return rest() }
      bytes.removeSubrange(..<start)
      searched -= start
      start = 0
      do throws(DispatchIOError) {
        guard let chunk = try await chunks.next(isolation: #isolation) else {
          isOver = true
          continue
        }
        chunk.enumerateBytes { stretch, _, _ in bytes.append(contentsOf: stretch) }
      } catch {
        _ = fail()
        throw error
      }
    }
  }

  private func line(upTo end: Int) -> ArraySlice<UInt8> {
    let hasReturn = end > start && bytes[end - 1] == UInt8(ascii: "\r")
    return bytes[start..<(hasReturn ? end - 1 : end)]
  }

  private mutating func rest() -> ArraySlice<UInt8>? {
    if start == bytes.count { return nil }
    defer { start = bytes.count }
    return bytes[start...]
  }

  private mutating func fail() -> DispatchIOError {
    bytes = []
    (start, searched, isOver) = (0, 0, true)
    return DispatchIOError(EMSGSIZE)
  }
}
