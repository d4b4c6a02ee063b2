// Annotations for thread-sanitized programs. The sanitizer knows the order that most of this
// interface establishes: submission, groups, semaphores, sources. It does not know waiting for a
// block, a block's notification, and dispatch_async_and_wait(). This library orders those, but is
// not sanitized itself, so without annotations the sanitizer would report false races. In other
// programs each annotation costs one comparison.
import CGrandCentralLinux

enum Races {
  /// Orders what this thread has done so far before a later acquire of `address`.
  @inline(__always)
  static func release(_ address: UnsafeMutableRawPointer) { gc_order_release(address) }

  @inline(__always)
  static func acquire(_ address: UnsafeMutableRawPointer) { gc_order_acquire(address) }

  /// A function that is called once, ordered after the caller's release and before the caller's
  /// acquire.
  private struct Call {
    let work: ClientFunction
    let context: UnsafeMutableRawPointer?
  }

  private static let callInOrder: ClientFunction = { raw in
    let raw = raw.unsafelyUnwrapped
    Races.acquire(raw)
    let call = raw.assumingMemoryBound(to: Call.self)
    call.pointee.work(call.pointee.context)
    Races.release(raw)
  }

  /// Has `run` call a function on some thread, and returns after that call.
  @inline(__always)
  static func ordered(
    _ work: @escaping ClientFunction, _ context: UnsafeMutableRawPointer?,
    _ run: (@escaping ClientFunction, UnsafeMutableRawPointer?) -> Void
  ) {
    guard gc_is_watched_for_races() else { return run(work, context) }
    orderedSlowly(work, context, run)
  }

  @inline(never)
  private static func orderedSlowly(
    _ work: @escaping ClientFunction, _ context: UnsafeMutableRawPointer?,
    _ run: (@escaping ClientFunction, UnsafeMutableRawPointer?) -> Void
  ) {
    // On the heap: the sanitizer's memory then knows no use of the address by other threads since
    // it was freed.
    let call = UnsafeMutablePointer<Call>.allocate(capacity: 1)
    call.initialize(to: Call(work: work, context: context))
    let address = UnsafeMutableRawPointer(call)
    release(address)
    run(callInOrder, address)
    acquire(address)
    call.deinitialize(count: 1)
    call.deallocate()
  }
}
