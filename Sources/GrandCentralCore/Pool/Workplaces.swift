// Room: Pool/Workplaces. Which queue each worker is on, safe to read from another thread.
// A queue may die while somebody reads its label, so readers and deaths keep apart:
//   a drainer   stores the queue's address; when it is done, zero, before it lets go of the queue
//   a reader    raises `isReading`, then reads addresses, and may use what they name until it lowers it
//   a death     reads `isReading`; if raised, waits for the reader
// All sequentially consistent: if the reader saw the address, the drainer's zero, and with it the death's
// look at `isReading`, came after the raise. Costs a drainer two stores an activation, a death a load.
import Primitives

/// Something that has a name and may be somebody's workplace.
protocol Workplace: AnyObject {
  var workplaceLabel: String { get }
}

enum Workplaces {
  private static let isReading = Atomic<Bool>(false)
  private static let lock = Lock()

  /// The label of the queue that `thread` is on, if it is on one.
  static func label(of thread: ThreadContext) -> String? {
    lock.withLock {
      isReading.store(true, ordering: .sequentiallyConsistent)
      defer { isReading.store(false, ordering: .sequentiallyConsistent) }
      let address = thread.shared.workingOn.load(ordering: .sequentiallyConsistent)
      guard let raw = UnsafeRawPointer(bitPattern: address) else { return nil }
      // SAFETY: by the protocol above the object cannot have died.
      let object = Unmanaged<AnyObject>.fromOpaque(raw).takeUnretainedValue()
      return (object as? any Workplace)?.workplaceLabel
    }
  }

  /// Called by an object that may be a workplace when it dies.
  static func willDie() {
    if isReading.load(ordering: .sequentiallyConsistent) { lock.withLock {} }
  }
}
