// Room: CoreSimulator/Events. What will happen, in the order of time; at one time, in the order in
// which it was decided. A binary heap.

struct Event {
  enum Kind {
    /// The thread runs its next step.
    case step
    /// The thread's wake-up arrives.
    case arrival
    /// The deadline of that sleep of the thread.
    case timeout(sleep: UInt64)
  }

  let time: UInt64
  let order: UInt64
  let thread: SimulatedThread
  let kind: Kind

  static func < (one: Event, other: Event) -> Bool {
    (one.time, one.order) < (other.time, other.order)
  }
}

struct Events {
  private var heap: [Event] = []
  private var orders: UInt64 = 0

  var nextTime: UInt64 { heap.first?.time ?? .max }

  mutating func add(_ thread: SimulatedThread, at time: UInt64, _ kind: Event.Kind) {
    orders += 1
    heap.append(Event(time: time, order: orders, thread: thread, kind: kind))
    var place = heap.count - 1
    while place > 0, heap[place] < heap[(place - 1) / 2] {
      heap.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  mutating func removeFirst() -> Event? {
    guard let first = heap.first else { return nil }
    let last = heap.removeLast()
    if heap.isEmpty { return first }
    heap[0] = last
    var place = 0
    while true {
      var least = place
      for child in [2 * place + 1, 2 * place + 2] where child < heap.count {
        if heap[child] < heap[least] { least = child }
      }
      if least == place { return first }
      heap.swapAt(place, least)
      place = least
    }
  }
}
