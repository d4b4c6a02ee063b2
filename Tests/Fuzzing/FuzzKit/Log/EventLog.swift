// Purpose: what happened in one run, in one order, for one fetch-and-add an event.
//
// The ticket is drawn with sequential consistency: an event that happens before another, whatever
// the engine did to make it so, has the lower ticket. Each run has a log of its own, so that an
// item that an engine runs long after the end cannot write into another program's log.
import Synchronization

// SAFETY: `slots` is only read as a pointer, and what it points to is atomic.
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

  /// How many events there were so far.
  public var count: Int { next.load(ordering: .acquiring) }

  public var hasOverflowed: Bool { count > capacity }

  /// The events so far. Whoever is between the two halves of append() is left out.
  public var events: [Event] {
    var events: [Event] = []
    events.reserveCapacity(min(count, capacity))
    for index in 0..<min(count, capacity) {
      if let event = Event(word: slots[index].load(ordering: .acquiring)) { events.append(event) }
    }
    return events
  }
}
