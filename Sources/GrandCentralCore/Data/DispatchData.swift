// Room: Data/DispatchData. A value of bytes in one or more pieces: an owner that keeps them alive,
// and an address.
//   owner       base        value
//   nil         nil         no bytes
//   any object  first byte  one piece; the deinit of the object frees it
//   a DataNode  nil         several pieces; DataNode.swift argues the tree
// Invariant: values are immutable and share. append() changes a tree in place only if no other
// value refers to it. One piece needs neither a tree nor an allocation besides its buffer; nor do
// its subranges and regions.

/// An immutable value of bytes that may lie in several places in memory.
///
/// Values share their bytes: copying a value, joining two and taking a subrange copy no large
/// piece. A buffer is freed when the last value that uses any of it is released, on the releasing
/// thread. All threads may use a value.
///
/// With *n* pieces: `count` takes O(1); a byte by its index, `region(location:)` and `subdata(in:)`
/// take O(log n); `append` takes O(log n), and amortised O(1) while the value has no copies; a walk
/// over all bytes takes O(bytes).
///
/// ```swift
/// var message = header
/// message.append(body)
/// message.enumerateBytes { bytes, offset, stop in send(bytes) }
/// ```
/// - Source: `dispatch_data_create(3)`.
// SAFETY: a value reads only memory that its owner keeps alive and that no thread writes; the
// owner's reference count orders the last read before the deallocation.
public struct DispatchData: RandomAccessCollection, @unchecked Sendable {
  /// The type of iterator over the bytes.
  public typealias Iterator = DispatchDataIterator
  /// The type of an index: the offset of a byte from the start.
  public typealias Index = Int
  /// The type of the collection of indices.
  public typealias Indices = DefaultIndices<DispatchData>

  /// The value without bytes.
  public static let empty = DispatchData()

  /// The way to free memory passed to `init(bytesNoCopy:deallocator:)`.
  ///
  /// It may be passed to other threads: the engine calls the closure once, on its queue.
  public enum Deallocator: @unchecked Sendable {
    /// Frees the memory with `free(3)`.
    case free
    /// Frees the memory with `munmap(2)`. Traps if munmap refuses the range.
    case unmap
    /// Submits the closure, once, to the queue; `nil` stands for the default global queue.
    case custom(DispatchQueue?, () -> Void)
  }

  @usableFromInline var owner: AnyObject?
  @usableFromInline var base: UnsafePointer<UInt8>?
  @usableFromInline var length: Int

  private init() { length = 0 }

  /// Makes a value of one piece that `owner` keeps alive; for other folders, whose buffers have
  /// owners of their own.
  init(owner: AnyObject, base: UnsafePointer<UInt8>, count: Int) {
    self.owner = owner
    self.base = base
    length = count
  }

  /// Makes a value of a tree. `root` must be a `DataNode` with at least two slots.
  init(root: AnyObject) {
    owner = root
    // SAFETY: required of the caller.
    length = NodeReference(unsafeDowncast(root, to: DataNode.self)).bytes
  }

  /// Makes a copy of the bytes in a buffer.
  ///
  /// - Parameter buffer: the bytes; not used after the call.
  /// - Source: `dispatch_data_create(3)`, the default destructor.
  public init(bytes buffer: UnsafeBufferPointer<UInt8>) {
    self.init(bytes: UnsafeRawBufferPointer(buffer))
  }

  /// Makes a copy of the bytes in a raw buffer.
  ///
  /// - Parameter buffer: the bytes; not used after the call.
  /// - Source: `dispatch_data_create(3)`, the default destructor.
  public init(bytes buffer: UnsafeRawBufferPointer) {
    self.init(copying: buffer, room: buffer.count)
  }

  /// Makes a value of the bytes in a buffer without copying them.
  ///
  /// The memory belongs to this value and to those made from it, and must not change. The
  /// deallocator runs once, when the last of them is released; at once if there are no bytes.
  ///
  /// - Parameters:
  ///   - bytes: the memory.
  ///   - deallocator: the way to free it.
  /// - Source: `dispatch_data_create(3)`.
  public init(
    bytesNoCopy bytes: UnsafeBufferPointer<UInt8>, deallocator: Deallocator = .free
  ) {
    self.init(bytesNoCopy: UnsafeRawBufferPointer(bytes), deallocator: deallocator)
  }

  /// Makes a value of the bytes in a raw buffer without copying them.
  ///
  /// The memory belongs to this value and to those made from it, and must not change. The
  /// deallocator runs once, when the last of them is released; at once if there are no bytes.
  ///
  /// - Parameters:
  ///   - bytes: the memory.
  ///   - deallocator: the way to free it.
  /// - Source: `dispatch_data_create(3)`.
  public init(bytesNoCopy bytes: UnsafeRawBufferPointer, deallocator: Deallocator = .free) {
    let client = ClientBytes(bytes, deallocator)
    guard let start = bytes.baseAddress, bytes.count > 0 else {
      self.init()
      return
    }
    self.init(
      owner: client, base: start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
  }

  /// Makes a copy of `bytes` in a buffer with room for `room` bytes.
  init(copying bytes: UnsafeRawBufferPointer, room: Int) {
    guard let source = bytes.baseAddress, bytes.count > 0 else {
      self.init()
      return
    }
    let own = OwnBytes.make(room: room)
    UnsafeMutableRawPointer(own.start).copyMemory(from: source, byteCount: bytes.count)
    self.init(owner: own, base: own.start, count: bytes.count)
  }

  /// The number of bytes. O(1).
  @inlinable
  public var count: Int { length }

  /// The root of the tree if the value has several pieces. Valid as long as the value.
  var root: NodeReference? {
    guard base == nil, let owner else { return nil }
    // SAFETY: an owner without a base is a node.
    return NodeReference(unsafeDowncast(owner, to: DataNode.self))
  }
}
