// Room: Data/DataBytes. The owners of the bytes of a piece of data.
// A piece may be owned by any object whose deinit frees the bytes. The reference count is the whole
// protocol, so a buffer's deallocator runs once, on the thread that drops the last reference. This
// file has two kinds: bytes allocated together with their object, and bytes that a client handed
// over.
//
// OwnBytes may have spare room behind the last byte in use. A piece grows into it only if it is the
// single user of the buffer (isKnownUniquelyReferenced). No other piece can then use the room, so
// growing needs no atomic fill mark. The cost: appending to a value that has copies opens a new
// buffer.

/// Bytes allocated behind an object header, 16-aligned like those of malloc.
final class OwnBytes: ManagedBuffer<OwnBytesHeader, UInt8> {
  /// Makes an object with at least `room` unset bytes.
  static func make(room: Int) -> OwnBytes {
    // Rounded up to the size that malloc(3) allocates anyway: a multiple of 16, less its 8-byte
    // header.
    let rounded = ((room + 32 + 8 + 15) & ~15) - 8 - 32
    let made = create(minimumCapacity: rounded) { _ in OwnBytesHeader(room: rounded) }
    // SAFETY: create() returns an instance of the class on which it is called.
    return unsafeDowncast(made, to: OwnBytes.self)
  }

  var start: UnsafeMutablePointer<UInt8> { withUnsafeMutablePointerToElements { $0 } }

  var end: UnsafeMutablePointer<UInt8> {
    withUnsafeMutablePointers { header, start in start + header.pointee.room }
  }

  /// Whether `owner` is an OwnBytes.
  @inline(__always)
  static func isOwn(_ owner: AnyObject) -> Bool {
    ObjectIdentifier(type(of: owner)) == ObjectIdentifier(OwnBytes.self)
  }

  /// Returns the address for `count` more bytes behind a piece of `owner` that ends at `end`. `nil`
  /// if `owner` is not an OwnBytes, has no room there, or has another user.
  @inline(__always)
  static func spareRoom(
    _ count: Int, behind end: UnsafePointer<UInt8>, of owner: UnsafeMutablePointer<AnyObject>
  ) -> UnsafeMutablePointer<UInt8>? {
    guard isOwn(owner.pointee) else { return nil }
    // SAFETY: isOwn has compared the class.
    return owner.withMemoryRebound(to: OwnBytes.self, capacity: 1) { own in
      guard isKnownUniquelyReferenced(&own.pointee) else { return nil }
      let last = UnsafePointer(own.pointee.end)
      return end + count <= last ? UnsafeMutablePointer(mutating: end) : nil
    }
  }
}

struct OwnBytesHeader {
  var room: Int
  /// Aligns the elements to 16 bytes, because a client may read them as any type.
  private let padding = 0

  init(room: Int) { self.room = room }
}

/// Bytes that a client handed over, and the way to free them.
final class ClientBytes {
  private let bytes: UnsafeRawBufferPointer
  private let deallocator: DispatchData.Deallocator

  init(_ bytes: UnsafeRawBufferPointer, _ deallocator: DispatchData.Deallocator) {
    self.bytes = bytes
    self.deallocator = deallocator
  }

  deinit {
    switch deallocator {
    case .free: free(UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    case .unmap: unmap()
    // Submitted, not called: the last reference may be dropped anywhere, under any lock.
    case .custom(let queue, let block): (queue ?? .global()).asyncUnsafe(execute: block)
    }
  }

  private func unmap() {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return }
    // munmap(2): EINVAL if the address is not a multiple of the page size.
    require(
      munmap(UnsafeMutableRawPointer(mutating: start), bytes.count) == 0,
      "DispatchData with the deallocator .unmap over \(bytes.count) bytes at \(start), which "
        + "munmap(2) refuses. Hand over the very range that mmap(2) returned.")
  }
}
