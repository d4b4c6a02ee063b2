// Purpose: the events of one run in a total order, at the cost of one fetch-and-add per event.
//
// The ticket is drawn with sequential consistency, so an event that happens before another, by any
// synchronisation of the engine, has the lower ticket. Each run has its own log, so an item that
// an engine runs long after the end cannot write into another program's log.
import Synchronization

// SAFETY: `slots` is a constant pointer, and its elements are atomic.
public final class EventLog: @unchecked Sendable {
  private let next = Atomic<Int>(0)
  private let slots: UnsafeMutablePointer<Atomic<UInt64>>
  private let capacity: Int

  public init(capacity: Int) {
    self.capacity = capacity
    slots = .allocate(capacity: capacity)
    for index in 0..<capacity { (slots + index).initialize(to: Atomic(0)) }
  }

  deinit {
    slots.deinitialize(count: capacity)
    slots.deallocate()
  }

  public func append(_ kind: Event.Kind, _ id: Int, value: Int = 0) {
    let ticket = next.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
    if ticket < capacity {
      slots[ticket].store(Event(kind, id, value: value).word, ordering: .releasing)
    }
  }

  /// The number of events so far.
  public var count: Int { next.load(ordering: .acquiring) }

  public var hasOverflowed: Bool { count > capacity }

  /// The events so far. An append() that has a ticket and has not stored its word is omitted.
  public var events: [Event] {
    var events: [Event] = []
    events.reserveCapacity(min(count, capacity))
    for index in 0..<min(count, capacity) {
      if let event = Event(word: slots[index].load(ordering: .acquiring)) { events.append(event) }
    }
    return events
  }
}
