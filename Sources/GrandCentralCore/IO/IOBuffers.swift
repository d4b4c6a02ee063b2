// Room: IO/IOBuffers. Memory that bytes are read into, and that then is the data of a handler, without a copy.
// Large buffers come back when the last value over them is gone, and are used again: fresh memory costs a page fault
// for each page, which is as much as the copy out of the page cache. A descriptor keeps a few at most, so what a
// reader takes stays flat, and goes with the descriptor.

final class IOBuffers: @unchecked Sendable {
  private let lock = Lock()
  /// Guarded by the lock.
  @Cell private var free: [UnsafeMutableRawBufferPointer] = []

  /// Up to here memory of its own costs nothing.
  static var smallBytes: Int { 32768 }
  private static var mostKept: Int { 4 }

  deinit { for memory in $free { memory.deallocate() } }

  /// Memory for `bytes`.
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
    // To whole pages.
    return known ?? .allocate(byteCount: (bytes + 4095) & ~4095, alignment: 4096)
  }

  /// How many bytes wait to be used again.
  var keptBytes: Int { lock.withLock { free.reduce(0) { $0 + $1.count } } }

  fileprivate func giveBack(_ memory: UnsafeMutableRawBufferPointer) {
    let surplus: UnsafeMutableRawBufferPointer? = lock.withLock {
      free.append(memory)
      return free.count > Self.mostKept ? free.removeFirst() : nil
    }
    surplus?.deallocate()
  }
}

/// Where one read puts its bytes.
struct IOBuffer {
  let owner: AnyObject
  let start: UnsafeMutablePointer<UInt8>

  /// The first `count` bytes, of `room`. Few bytes in a large buffer are copied out of it.
  func data(_ count: Int, of room: Int) -> DispatchData {
    if count < room / 2 {
      return DispatchData(bytes: UnsafeRawBufferPointer(start: start, count: count))
    }
    return DispatchData(owner: owner, base: start, count: count)
  }
}

/// Memory that goes back to where it came from.
private final class LentBytes {
  private let memory: UnsafeMutableRawBufferPointer
  private let lender: IOBuffers

  init(_ memory: UnsafeMutableRawBufferPointer, from lender: IOBuffers) {
    self.memory = memory
    self.lender = lender
  }

  // SAFETY: never empty, and bytes are all that is ever put there.
  var start: UnsafeMutablePointer<UInt8> {
    memory.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self)
  }

  deinit { lender.giveBack(memory) }
}
