// Room: Events/TimerHeap. Entries by time, the earliest first. A heap of four children a node: half as deep as
// one of two, and the four stand in one cache line. Larkin, Sen, Tarjan, "A Back-to-Basics Empirical Study of
// Priority Queues" (2014). Each entry knows its place, so that any of them leaves in logarithmic time.

struct TimerHeap {
  private struct Slot {
    var time: UInt64
    var entry: TimerHandle
  }
  private var slots: [Slot] = []
  private let order: Order

  /// By which of its two times an entry stands here; it notes its place accordingly.
  enum Order { case byTarget, byLatest }

  init(_ order: Order) { self.order = order }

  /// The earliest time.
  var first: UInt64? { slots.first?.time }

  /// The earliest entry, if its time has come by `now`.
  func entry(until now: UInt64) -> TimerHandle? {
    guard let slot = slots.first, slot.time <= now else { return nil }
    return slot.entry
  }

  /// Whoever inserts keeps the entry until it is removed.
  mutating func insert(_ entry: TimerHandle, at time: UInt64) {
    slots.append(Slot(time: time, entry: entry))
    rise(from: slots.count - 1)
  }

  mutating func remove(_ entry: TimerHandle) {
    let hole = place(of: entry)
    guard let last = slots.popLast(), hole < slots.count else { return }
    // Most that leave were not first, and what comes from the end belongs near it.
    let time = slots[hole].time
    put(last, at: hole)
    if last.time < time { rise(from: hole) } else { sink(from: hole) }
  }

  /// Takes out all of them, in no order.
  mutating func removeAll() -> [TimerHandle] {
    defer { slots = [] }
    return slots.map(\.entry)
  }

  private mutating func rise(from start: Int) {
    let slot = slots[start]
    var hole = start
    while hole > 0 {
      let parent = (hole - 1) / 4
      guard slots[parent].time > slot.time else { break }
      put(slots[parent], at: hole)
      hole = parent
    }
    put(slot, at: hole)
  }

  private mutating func sink(from start: Int) {
    let slot = slots[start]
    var hole = start
    while true {
      let firstChild = 4 * hole + 1
      guard firstChild < slots.count else { break }
      var least = firstChild
      for child in firstChild + 1..<max(firstChild + 1, min(firstChild + 4, slots.count))
      where slots[child].time < slots[least].time {
        least = child
      }
      guard slots[least].time < slot.time else { break }
      put(slots[least], at: hole)
      hole = least
    }
    put(slot, at: hole)
  }

  private mutating func put(_ slot: Slot, at index: Int) {
    slots[index] = slot
    // Four thousand million timers would be a quarter of a terabyte.
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
