// Room: Reactor/TimerHeap. Entries by time, the earliest first.
// A node of the heap has four children: the heap is half as deep as a binary one, and the four
// stand in one cache line. Larkin, Sen, Tarjan, "A Back-to-Basics Empirical Study of Priority
// Queues" (2014). Each entry stores its position, so removing any entry takes logarithmic time.
// Guarded by the lock of its Timers. It is an object with memory of its own, not an array in a
// property: programs arm and cancel a timeout for each request, and the array's checks cost more
// than the heap.

final class TimerHeap {
  private struct Slot {
    var time: UInt64
    var entry: TimerHandle
  }
  private typealias Slots = UnsafeMutablePointer<Slot>

  /// The time that orders the heap. It also selects the position that the entry stores.
  enum Order { case byTarget, byLatest }

  private let order: Order
  /// The first `count` slots are initialized.
  @Cell private var slots: Slots
  @Cell private var capacity = 16
  @Cell private(set) var count = 0

  init(_ order: Order) {
    self.order = order
    slots = .allocate(capacity: 16)
  }

  deinit { $slots.deallocate() }

  /// The earliest time.
  var first: UInt64? { count > 0 ? slots.pointee.time : nil }

  /// Returns the earliest entry if its time is not after `now`.
  func entry(until now: UInt64) -> TimerHandle? {
    guard count > 0, slots.pointee.time <= now else { return nil }
    return slots.pointee.entry
  }

  /// Returns the latest time up to `end`, and whether any entry up to then has no leeway; `nil` if
  /// there are more than `limit` such entries. They form the top of the heap, because no time is
  /// before its parent's.
  func last(until end: UInt64, limit: Int) -> (time: UInt64, isStrict: Bool)? {
    var (found, left) = ((time: UInt64(0), isStrict: false), limit)
    return visit(0, until: end, &found, &left) ? found : nil
  }

  /// Visits the entry at `index` and those below it. Returns false if there are more than `left`.
  private func visit(
    _ index: Int, until end: UInt64, _ found: inout (time: UInt64, isStrict: Bool),
    _ left: inout Int
  ) -> Bool {
    guard index < count, slots[index].time <= end else { return true }
    if left == 0 { return false }
    left &-= 1
    found.time = max(found.time, slots[index].time)
    if !slots[index].entry.pointee.hasLeeway { found.isStrict = true }
    let child = 4 &* index &+ 1
    for child in child..<child &+ 4 where !visit(child, until: end, &found, &left) { return false }
    return true
  }

  /// Inserts an entry, whose memory must stay valid until it is removed.
  func insert(_ entry: TimerHandle, at time: UInt64) {
    if count == capacity { grow() }
    count += 1
    rise(Slot(time: time, entry: entry), from: count - 1, in: slots)
  }

  func remove(_ entry: TimerHandle) {
    let (slots, left) = (slots, count - 1)
    let hole = place(of: entry)
    count = left
    if hole == left { return }
    // Most removed entries were not first, and the last slot's entry belongs near the end.
    let last = slots[left]
    if last.time < slots[hole].time {
      rise(last, from: hole, in: slots)
    } else {
      sink(last, from: hole, in: slots, left)
    }
  }

  /// Removes all entries, and returns them in no order.
  func removeAll() -> [TimerHandle] {
    var all: [TimerHandle] = []
    // See RegistrationTable.removeAll().
    all.reserveCapacity(count + 1)
    for place in 0..<count { all.append(slots[place].entry) }
    count = 0
    return all
  }

  private func grow() {
    let grown = Slots.allocate(capacity: 2 * capacity)
    grown.moveInitialize(from: slots, count: count)
    slots.deallocate()
    slots = grown
    capacity *= 2
  }

  // Index arithmetic cannot overflow: the slots fit into memory.

  private func rise(_ slot: Slot, from start: Int, in slots: Slots) {
    var hole = start
    while hole > 0 {
      let parent = (hole &- 1) >> 2
      guard slots[parent].time > slot.time else { break }
      put(slots[parent], at: hole, in: slots)
      hole = parent
    }
    put(slot, at: hole, in: slots)
  }

  private func sink(_ slot: Slot, from start: Int, in slots: Slots, _ count: Int) {
    var hole = start
    while true {
      var least = 4 &* hole &+ 1
      guard least < count else { break }
      for child in least &+ 1..<max(least &+ 1, min(least &+ 4, count))
      where slots[child].time < slots[least].time {
        least = child
      }
      guard slots[least].time < slot.time else { break }
      put(slots[least], at: hole, in: slots)
      hole = least
    }
    put(slot, at: hole, in: slots)
  }

  @inline(__always)
  private func put(_ slot: Slot, at index: Int, in slots: Slots) {
    (slots + index).initialize(to: slot)
    // 2^32 timers would take a quarter of a terabyte.
    let place = UInt32(truncatingIfNeeded: index)
    switch order {
    case .byTarget: slot.entry.pointee.placeByTarget = place
    case .byLatest: slot.entry.pointee.placeByLatest = place
    }
  }

  private func place(of entry: TimerHandle) -> Int {
    switch order {
    case .byTarget: Int(entry.pointee.placeByTarget)
    case .byLatest: Int(entry.pointee.placeByLatest)
    }
  }
}
