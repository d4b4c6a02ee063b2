// Room: Pool/Workplaces. Which queue each worker is on, safe to read from another thread.
// A queue may die while somebody reads its label, so readers and deaths keep apart:
//   a drainer   stores the queue's address; when it is done, zero or the queue outside, before it lets go of the queue.
//               So does a thread that runs an item of a concurrent queue
//   a reader    sets `reader`, then reads addresses, and may use what they name until it clears it
//   a death     reads `reader`; if another thread is, waits for it
// All sequentially consistent but the clearing, and the drainer's first store, which releases: if
// the reader saw the address, the drainer's zero, and with it the death's look at `reader`, came
// after it was set. Costs a drainer two stores an activation, a death a load.

/// Something that has a name and may be somebody's workplace.
protocol Workplace: AnyObject {
  var workplaceLabel: String { get }
}

enum Workplaces {
  /// The thread that reads, as its context's address; 0: nobody.
  private static let reader = Atomic<UInt>(0)
  private static let lock = Lock()

  /// The label of the queue that `thread` is on, if it is on one.
  static func label(of thread: ThreadContext) -> String? {
    lock.withLock {
      reader.store(UInt(bitPattern: currentThread()), ordering: .sequentiallyConsistent)
      // releasing: a death that sees it has the reading behind it. Nobody needs to see it soon.
      defer { reader.store(0, ordering: .releasing) }
      let address = thread.shared.workingOn.load(ordering: .sequentiallyConsistent)
      guard let raw = UnsafeRawPointer(bitPattern: address) else { return nil }
      // SAFETY: by the protocol above the object cannot have died. It may die right here, if the drainer
      // lets go of it while this function has a reference: see willDie().
      let object = Unmanaged<AnyObject>.fromOpaque(raw).takeUnretainedValue()
      willRead(raw)
      return (object as? any Workplace)?.workplaceLabel
    }
  }

  /// Called by an object that may be a workplace when it dies.
  @inline(__always)
  static func willDie() {
    let reading = reader.load(ordering: .sequentiallyConsistent)
    if reading != 0 { wait(for: reading) }
  }

  @inline(never)
  private static func wait(for reading: UInt) {
    // The reader's own reference may be the last: it has read what it wanted, and holds the lock.
    if reading != UInt(bitPattern: currentThread()) { lock.withLock {} }
  }
}
