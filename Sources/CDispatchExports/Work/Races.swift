// What a thread-sanitized program is told. Its sanitizer knows most of this interface and orders by it: what is submitted,
// groups, semaphores, sources. It does not know waiting for a block, being told of one, and dispatch_async_and_wait(); and
// this library, which orders those, is not sanitized itself, so the sanitizer would report races that are none.
// In other programs each of these is a comparison.
import CLinux

enum Races {
  /// What this thread has done so far has happened for whoever acquires `address` later.
  @inline(__always)
  static func release(_ address: UnsafeMutableRawPointer) { gc_order_release(address) }

  @inline(__always)
  static func acquire(_ address: UnsafeMutableRawPointer) { gc_order_acquire(address) }

  /// A function that is called once, before and after which the waiting thread has what comes.
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

  /// Has `run` call a function on whatever thread, and returns when that is over.
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
    // On the heap, so that nobody else has used the address in the sanitizer's memory since it was freed.
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
