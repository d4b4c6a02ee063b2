// Room: Data/DataBytes. Who owns the bytes that a piece of data shows.
// A piece keeps any object alive whose end frees the bytes; a reference count is the whole protocol, so a
// buffer's deallocator runs once, on whichever thread drops the last use. Two kinds come from here: bytes of
// our own, in one allocation with the object, and bytes that a client handed over.
//
// Own bytes may have spare room behind the last byte in use. Only a piece that is the buffer's single user
// grows into it, which isKnownUniquelyReferenced tells; no other piece can then see the room, so growing needs
// no atomic mark of how far the buffer is filled. What that costs: a value that is appended to while a copy of
// it lives opens a new buffer.

/// Bytes of our own behind a header, 16-aligned as malloc's are.
final class OwnBytes: ManagedBuffer<OwnBytesHeader, UInt8> {
  /// An object with at least `room` bytes, all of them unset.
  static func make(room: Int) -> OwnBytes {
    // Up to what malloc(3) gives anyway: it rounds up to 16, less its own 8 bytes.
    let rounded = ((room + 32 + 8 + 15) & ~15) - 8 - 32
    let made = create(minimumCapacity: rounded) { _ in OwnBytesHeader(room: rounded) }
    // SAFETY: create() makes an instance of the class that it is called on.
    return unsafeDowncast(made, to: OwnBytes.self)
  }

  var start: UnsafeMutablePointer<UInt8> { withUnsafeMutablePointerToElements { $0 } }

  var end: UnsafeMutablePointer<UInt8> {
    withUnsafeMutablePointers { header, start in start + header.pointee.room }
  }

  /// Whether `owner` is of this class.
  @inline(__always)
  static func isOwn(_ owner: AnyObject) -> Bool {
    ObjectIdentifier(type(of: owner)) == ObjectIdentifier(OwnBytes.self)
  }

  /// Where `count` more bytes may be written behind a piece of `owner` that ends at `end`. `nil` if the
  /// bytes are not ours, have no room there, or somebody else can see them.
  @inline(__always)
  static func spareRoom(
    _ count: Int, behind end: UnsafePointer<UInt8>, of owner: UnsafeMutablePointer<AnyObject>
  ) -> UnsafeMutablePointer<UInt8>? {
    guard isOwn(owner.pointee) else { return nil }
    // SAFETY: the class was just compared.
    return owner.withMemoryRebound(to: OwnBytes.self, capacity: 1) { own in
      guard isKnownUniquelyReferenced(&own.pointee) else { return nil }
      let last = UnsafePointer(own.pointee.end)
      return end + count <= last ? UnsafeMutablePointer(mutating: end) : nil
    }
  }
}

struct OwnBytesHeader {
  var room: Int
  /// Brings the elements to a multiple of 16 bytes: a client may look at them as any type.
  private let padding = 0

  init(room: Int) { self.room = room }
}

/// Bytes that a client handed over with the way to free them.
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
    // The client's code never runs here: the last use may end anywhere, under any lock.
    case .custom(let queue, let block): (queue ?? .global()).asyncUnsafe(execute: block)
    }
  }

  private func unmap() {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return }
    // munmap(2): EINVAL, the address is not a multiple of the page size.
    require(
      munmap(UnsafeMutableRawPointer(mutating: start), bytes.count) == 0,
      "DispatchData with the deallocator .unmap over \(bytes.count) bytes at \(start), which "
        + "munmap(2) refuses. Hand over the very range that mmap(2) returned.")
  }
}
