// Room: Pool/CurrentQueueLabels. The current queue of each worker, safe to read from another
// thread. A queue may be deallocated while a thread reads its label, so the two exclude each other:
//   a drainer       stores the queue's address; when done, and before it releases the queue, it
//                   stores zero or the outer queue. A thread that runs an item of a concurrent
//                   queue does the same
//   a reader        sets `reader`, reads addresses, uses the objects, then clears `reader`
//   a deallocation  reads `reader`; if it names another thread, waits for that thread
// All accesses are sequentially consistent, except the clearing, and the drainer's first store,
// which is releasing. If the reader saw the address, the drainer's zero came after `reader` was
// set, and so did the deallocation's read of `reader`. This costs a drainer two stores an
// activation, and a deallocation one load.

/// An object with a label that may be a thread's current queue.
protocol CurrentQueueLabel: AnyObject {
  var currentQueueLabel: String { get }
}

enum CurrentQueueLabels {
  /// The thread that reads, as its context's address; 0: none.
  private static let reader = Atomic<UInt>(0)
  private static let lock = Lock()

  /// Returns the label of the current queue of `thread`; `nil` if it has none.
  static func label(of thread: ThreadContext) -> String? {
    var kept: Unmanaged<AnyObject>?
    // After the lock: this may be the last reference, and an end runs code of the program.
    defer { kept?.release() }
    return lock.withLock {
      reader.store(UInt(bitPattern: currentThread()), ordering: .sequentiallyConsistent)
      // releasing: the reads precede what a deallocation does that sees the zero. It may see it
      // late.
      defer { reader.store(0, ordering: .releasing) }
      let address = thread.shared.workingOn.load(ordering: .sequentiallyConsistent)
      guard let raw = UnsafeRawPointer(bitPattern: address) else { return nil }
      // SAFETY: by the protocol above the object is still allocated, although it may be ending: its
      // deinit then waits for this reader. Otherwise it is retained, since the drainer may release
      // it meanwhile.
      let object = Unmanaged<AnyObject>.fromOpaque(raw)
      if object.tryRetain() { kept = object }
      willRead(raw)
      return object._withUnsafeGuaranteedRef {
        ($0 as? any CurrentQueueLabel)?.currentQueueLabel
      }
    }
  }

  /// Waits for a reader in another thread. Called in the deinit of an object with a label.
  @inline(__always)
  static func willDie() {
    let reading = reader.load(ordering: .sequentiallyConsistent)
    if reading != 0 { wait(for: reading) }
  }

  @inline(never)
  private static func wait(for reading: UInt) {
    // The reader's own reference may be the last: it has read the label, and holds the lock.
    if reading != UInt(bitPattern: currentThread()) { lock.withLock {} }
  }
}
