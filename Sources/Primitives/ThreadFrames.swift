// Room: Primitives/ThreadFrames. The queues that a thread is in, as a chain of frames.
//   base ⇄ frame ⇄ frame ⇄ … → nil     `pointee.frame` is the innermost frame in use
// The frames are memory of the thread's context and are linked once, for good. The base names no
// queue.
// Not on the stack: where a C++ exception or longjmp() leaves an item, no code takes its frame off,
// and the thread then overwrites that part of its stack. Such a frame stays in use until the
// enclosing item, if there is one, returns. Its queue stays locked, so it must not be released.
// Only the thread itself enters and leaves frames. Another thread may read those of one that
// sleeps: see Lanes/HierarchyLock in the engine.
public import CGrandCentralLinux

public typealias ThreadFrame = UnsafeMutablePointer<gc_frame>

extension gc_frame {
  /// The bits of `queue` that the engine marks a frame with: objects are aligned to 16 bytes.
  @inlinable @inline(__always) public static var markMask: UInt { 3 }

  /// The queue without the mark.
  @inlinable @inline(__always)
  public var queueAddress: UnsafeMutableRawPointer? {
    UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: queue) & ~Self.markMask)
  }
}

extension UnsafeMutablePointer<gc_thread> {
  /// Enters a frame of `queue`, which may have a mark. Returns the enclosing one, for leaveFrame().
  @inlinable @inline(__always)
  public func enterFrame(of queue: UnsafeMutableRawPointer?) -> ThreadFrame {
    let outer = pointee.frame.unsafelyUnwrapped
    let frame = outer.pointee.inner ?? Self.addFrames(inside: outer)
    // A signal handler must not enter a queue: it would take the same frame in between.
    frame.pointee.queue = queue
    pointee.frame = frame
    return outer
  }

  /// Leaves all frames inside `outer`.
  @inlinable @inline(__always)
  public func leaveFrame(to outer: ThreadFrame) { pointee.frame = outer }

  /// Makes the first frames of a new context.
  func beginFrames() { pointee.frame = Self.makeFrames(inside: nil) }

  /// Whether the thread is inside a queue, as its frames say.
  public var isInside: Bool { pointee.frame?.pointee.previous != nil }

  @usableFromInline @inline(never)
  static func addFrames(inside outer: ThreadFrame) -> ThreadFrame {
    let frames = makeFrames(inside: outer)
    outer.pointee.inner = frames
    return frames
  }

  /// Makes eight linked frames, which are never freed, and returns the outermost.
  private static func makeFrames(inside outer: ThreadFrame?) -> ThreadFrame {
    let count = 8
    // On cache lines of their own, as the context is.
    let frames = UnsafeMutableRawPointer.allocate(
      byteCount: count * MemoryLayout<gc_frame>.stride, alignment: 64
    ).bindMemory(to: gc_frame.self, capacity: count)
    for number in 0..<count {
      let previous = number == 0 ? outer : frames + (number - 1)
      let inner = number + 1 < count ? frames + (number + 1) : nil
      (frames + number).initialize(to: gc_frame(previous: previous, inner: inner, queue: nil))
    }
    return frames
  }
}
