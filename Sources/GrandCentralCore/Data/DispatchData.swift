// Room: Data/DispatchData. Bytes in pieces, as a value: an owner that keeps them alive, and where they are.
//   owner       base        what it is
//   nil         nil         no bytes
//   any object  first byte  one piece; the object's end frees it
//   a DataNode  nil         several pieces; the tree is argued in DataNode.swift
// Values are immutable and share; append() changes a tree in place only where nobody else holds it. One piece
// needs no tree and no allocation beside its buffer, and so neither do its subranges and regions.

/// Bytes that may lie in several places in memory, as one immutable value.
///
/// Values share their bytes: copying one, joining two and taking a subrange copy no large piece, and a buffer is
/// freed when the last value that shows any of it is gone, on the thread that let go of it. Values may be used
/// from all threads.
///
/// With *n* pieces: `count` O(1); a byte by its index, `region(location:)` and `subdata(in:)` O(log n);
/// `append` O(log n), and amortised O(1) while no copy of the value is alive; a walk over all bytes O(bytes).
///
/// ```swift
/// var message = header
/// message.append(body)
/// message.enumerateBytes { bytes, offset, stop in send(bytes) }
/// ```
/// - Source: `dispatch_data_create(3)`.
// SAFETY: a value reads only memory that its owner keeps and nobody writes; reference counts order its end.
public struct DispatchData: RandomAccessCollection, @unchecked Sendable {
  public typealias Iterator = DispatchDataIterator
  public typealias Index = Int
  public typealias Indices = DefaultIndices<DispatchData>

  /// No bytes.
  public static let empty = DispatchData()

  /// How the memory is freed that `init(bytesNoCopy:deallocator:)` was given.
  public enum Deallocator {
    /// With `free(3)`.
    case free
    /// With `munmap(2)`. A range that it refuses stops the process.
    case unmap
    /// By the closure, submitted to the queue; `nil`: to the default global queue. It runs once.
    case custom(DispatchQueue?, () -> Void)
  }

  @usableFromInline var owner: AnyObject?
  @usableFromInline var base: UnsafePointer<UInt8>?
  @usableFromInline var length: Int

  private init() { length = 0 }

  /// One piece that `owner` keeps alive; for other rooms and doors, whose buffers have owners of their own.
  init(owner: AnyObject, base: UnsafePointer<UInt8>, count: Int) {
    self.owner = owner
    self.base = base
    length = count
  }

  /// A tree, which is a `DataNode` with at least two slots.
  init(root: AnyObject) {
    owner = root
    // SAFETY: the caller's promise.
    length = NodeReference(unsafeDowncast(root, to: DataNode.self)).bytes
  }

  /// A copy of some bytes.
  ///
  /// - Parameter buffer: is not used after the call.
  /// - Source: `dispatch_data_create(3)`, the default destructor.
  public init(bytes buffer: UnsafeBufferPointer<UInt8>) {
    self.init(bytes: UnsafeRawBufferPointer(buffer))
  }

  /// A copy of some bytes.
  ///
  /// - Parameter buffer: is not used after the call.
  /// - Source: `dispatch_data_create(3)`, the default destructor.
  public init(bytes buffer: UnsafeRawBufferPointer) {
    self.init(copying: buffer, room: buffer.count)
  }

  /// Bytes where they are, without a copy.
  ///
  /// The memory belongs to the value and to those made from it; nobody may change it. When the last of them is
  /// gone, the deallocator runs, once. If there are no bytes, that is at once.
  ///
  /// - Parameters:
  ///   - bytes: the memory.
  ///   - deallocator: how it is freed.
  /// - Source: `dispatch_data_create(3)`.
  public init(
    bytesNoCopy bytes: UnsafeBufferPointer<UInt8>, deallocator: Deallocator = .free
  ) {
    self.init(bytesNoCopy: UnsafeRawBufferPointer(bytes), deallocator: deallocator)
  }

  /// Bytes where they are, without a copy.
  ///
  /// The memory belongs to the value and to those made from it; nobody may change it. When the last of them is
  /// gone, the deallocator runs, once. If there are no bytes, that is at once.
  ///
  /// - Parameters:
  ///   - bytes: the memory.
  ///   - deallocator: how it is freed.
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

  /// A copy of `bytes` in a buffer for `room`.
  init(copying bytes: UnsafeRawBufferPointer, room: Int) {
    guard let source = bytes.baseAddress, bytes.count > 0 else {
      self.init()
      return
    }
    let own = OwnBytes.make(room: room)
    UnsafeMutableRawPointer(own.start).copyMemory(from: source, byteCount: bytes.count)
    self.init(owner: own, base: own.start, count: bytes.count)
  }

  /// How many bytes there are.
  @inlinable
  public var count: Int { length }

  /// The tree's root, of a value with several pieces. Valid while the value is.
  var root: NodeReference? {
    guard base == nil, let owner else { return nil }
    // SAFETY: without a base the owner is a node.
    return NodeReference(unsafeDowncast(owner, to: DataNode.self))
  }
}
