// Room: Pool/IdleStack. The parked workers, in the order in which they are woken. Guarded by the
// pool's idle lock. Its memory is allocated once and counts no references, because each wake-up and
// each sleep of a worker changes it: the growth, the check for shared storage and the references of
// an array cost as much there as the search for work.

struct IdleStack {
  /// The first `count` slots are filled; the last one is woken next.
  private let slots: UnsafeMutablePointer<Unmanaged<Worker>>
  private let capacity: Int
  private(set) var count = 0

  init(capacity: Int) {
    self.capacity = capacity
    slots = .allocate(capacity: capacity)
  }

  func deallocate() { slots.deallocate() }

  /// Adds the worker that is woken next.
  mutating func push(_ worker: Worker) {
    invariant(count < capacity, "More workers are parked than the pool may have.")
    slots[count] = Unmanaged.passUnretained(worker)
    count += 1
  }

  /// Adds the worker that is woken last.
  mutating func insertLast(_ worker: Worker) {
    invariant(count < capacity, "More workers are parked than the pool may have.")
    (slots + 1).update(from: slots, count: count)
    slots[0] = Unmanaged.passUnretained(worker)
    count += 1
  }

  /// Removes and returns the worker to wake. The stack must not be empty.
  mutating func pop() -> Worker {
    invariant(count > 0, "A worker was chosen, and the idle stack is empty.")
    count -= 1
    // SAFETY: workers live as long as their pool.
    return slots[count]._withUnsafeGuaranteedRef { $0 }
  }

  mutating func remove(_ worker: Worker) {
    let its = Unmanaged.passUnretained(worker).toOpaque()
    // Most often it is the one that was pushed last.
    guard let place = (0..<count).last(where: { slots[$0].toOpaque() == its }) else { return }
    (slots + place).update(from: slots + place + 1, count: count - place - 1)
    count -= 1
  }

  mutating func removeAll() { count = 0 }

  /// The workers, the one that is woken next at the end. For tests.
  var workers: [Worker] { (0..<count).map { slots[$0].takeUnretainedValue() } }
}
