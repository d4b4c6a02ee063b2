// Annotations for thread-sanitized programs. The sanitizer knows the order that most of this
// interface establishes: submission, groups, semaphores, sources. It does not know waiting for a
// block, a block's notification, and dispatch_async_and_wait(). This library orders those, but is
// not sanitized itself, so without annotations the sanitizer would report false races. In other
// programs each annotation costs one comparison.
import CGrandCentralLinux
import CGrandCentralStorage

enum Races {
  /// Orders what this thread has done so far before a later acquire of `address`.
  @inline(__always)
  static func release(_ address: UnsafeMutableRawPointer) { gc_order_release(address) }

  @inline(__always)
  static func acquire(_ address: UnsafeMutableRawPointer) { gc_order_acquire(address) }

  // MARK: The order of a queue's items

  /// Calls `work` in the order of the items of `queue` and of its targets. For items that the
  /// sanitizer sees submitted it keeps that order itself: with a queue's address it orders serial
  /// items and barriers, with the word behind it the concurrent items before them.
  static func inOrder(of queue: Handle?, isBarrier: Bool = false, _ work: () -> Void) {
    forEachQueue(from: queue) { queue, isSerial in
      acquire(queue)
      if isSerial || isBarrier { acquire(queue + wordBytes) }
    }
    work()
    forEachQueue(from: queue) { queue, isSerial in
      release(isSerial || isBarrier ? queue : queue + wordBytes)
    }
  }

  private static let wordBytes = MemoryLayout<UInt>.size

  /// Visits a queue and its targets as the sanitizer does, by dispatch_queue_offsets.
  private static func forEachQueue(
    from first: Handle?, _ body: (_ queue: Handle, _ isSerial: Bool) -> Void
  ) {
    let offsets = gc_published_queue_offsets()
    var next = first
    while let queue = next {
      body(queue, queue.load(fromByteOffset: Int(offsets.width), as: UInt16.self) == 1)
      next = queue.load(fromByteOffset: Int(offsets.target), as: Handle?.self)
    }
  }

  // MARK: Calls that their caller waits for

  /// A function that is called once, ordered after the caller's release and before the caller's
  /// acquire.
  private struct Call {
    let work: ClientFunction
    let context: UnsafeMutableRawPointer?
    let queue: Handle?
    let isBarrier: Bool
  }

  private static let callInOrder: ClientFunction = { raw in
    let raw = raw.unsafelyUnwrapped
    Races.acquire(raw)
    let call = raw.assumingMemoryBound(to: Call.self)
    Races.inOrder(of: call.pointee.queue, isBarrier: call.pointee.isBarrier) {
      call.pointee.work(call.pointee.context)
    }
    Races.release(raw)
  }

  /// Has `run` call a function as an item of `queue`, and returns after that call.
  @inline(__always)
  static func ordered(
    on queue: Handle?, isBarrier: Bool,
    _ work: @escaping ClientFunction, _ context: UnsafeMutableRawPointer?,
    _ run: (@escaping ClientFunction, UnsafeMutableRawPointer?) -> Void
  ) {
    guard gc_is_watched_for_races() else { return run(work, context) }
    orderedSlowly(Call(work: work, context: context, queue: queue, isBarrier: isBarrier), run)
  }

  @inline(never)
  private static func orderedSlowly(
    _ ordered: Call, _ run: (@escaping ClientFunction, UnsafeMutableRawPointer?) -> Void
  ) {
    // On the heap: the sanitizer's memory then knows no use of the address by other threads since
    // it was freed.
    let call = UnsafeMutablePointer<Call>.allocate(capacity: 1)
    call.initialize(to: ordered)
    let address = UnsafeMutableRawPointer(call)
    release(address)
    run(callInOrder, address)
    acquire(address)
    call.deinitialize(count: 1)
    call.deallocate()
  }
}
