// Room: IO/IOBuffers. Buffers for reads; a buffer becomes the data that a handler receives, without
// a copy.
// A large buffer returns here when the last value over it is released, and is used again: fresh
// memory costs a page fault for each page, as much as the copy out of the page cache. Each
// descriptor keeps at most `maxKept` buffers, until it is released, so the memory of a reader stays
// bounded.

final class IOBuffers: @unchecked Sendable {
  private let lock = Lock()
  /// Guarded by the lock.
  @Cell private var free: [UnsafeMutableRawBufferPointer] = []

  /// Buffers up to this size are allocated for each read; reusing them would save nothing.
  static var smallBytes: Int { 32768 }
  private static var maxKept: Int { 4 }

  deinit { for memory in $free { memory.deallocate() } }

  /// Returns memory for `bytes` bytes.
  func take(_ bytes: Int) -> IOBuffer {
    if bytes <= Self.smallBytes {
      let own = OwnBytes.make(room: bytes)
      return IOBuffer(owner: own, start: own.start)
    }
    let lent = LentBytes(memory(bytes), from: self)
    return IOBuffer(owner: lent, start: lent.start)
  }

  private func memory(_ bytes: Int) -> UnsafeMutableRawBufferPointer {
    let known = lock.withLock {
      let place = free.firstIndex { $0.count >= bytes && $0.count / 2 <= bytes }
      return place.map { free.remove(at: $0) }
    }
    // Rounded up to whole pages.
    return known ?? .allocate(byteCount: (bytes + 4095) & ~4095, alignment: 4096)
  }

  /// The number of bytes in buffers kept for reuse.
  var keptBytes: Int { lock.withLock { free.reduce(0) { $0 + $1.count } } }

  fileprivate func giveBack(_ memory: UnsafeMutableRawBufferPointer) {
    let surplus: UnsafeMutableRawBufferPointer? = lock.withLock {
      free.append(memory)
      return free.count > Self.maxKept ? free.removeFirst() : nil
    }
    surplus?.deallocate()
  }
}

/// The memory into which one read writes.
struct IOBuffer {
  let owner: AnyObject
  let start: UnsafeMutablePointer<UInt8>

  /// Returns the first `count` of `room` bytes. Copies them if they fill less than half of the
  /// buffer.
  func data(_ count: Int, of room: Int) -> DispatchData {
    if count < room / 2 {
      return DispatchData(bytes: UnsafeRawBufferPointer(start: start, count: count))
    }
    return DispatchData(owner: owner, base: start, count: count)
  }
}

/// Memory that returns to its IOBuffers when it is released.
private final class LentBytes {
  private let memory: UnsafeMutableRawBufferPointer
  private let lender: IOBuffers

  init(_ memory: UnsafeMutableRawBufferPointer, from lender: IOBuffers) {
    self.memory = memory
    self.lender = lender
  }

  // SAFETY: the buffer is never empty, and holds nothing but bytes.
  var start: UnsafeMutablePointer<UInt8> {
    memory.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self)
  }

  deinit { lender.giveBack(memory) }
}
