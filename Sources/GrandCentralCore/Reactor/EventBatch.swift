// Room: Reactor/EventBatch. The events that one wait has returned, and their receivers.
// A thread that waits has one batch, so that receiving an event allocates no memory.

/// Used by one thread at a time: received into, and then delivered.
struct EventBatch {
  private struct Notification {
    let receiver: any ReadinessReceiver
    let readiness: Readiness
    let registration: Registration
  }

  let events = UnsafeMutablePointer<ReadinessSet.Event>.allocate(capacity: ReadinessSet.batch)
  private let notifications = UnsafeMutablePointer<Notification>.allocate(
    capacity: ReadinessSet.batch)
  /// The number of notifications.
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// Finds the receivers of the first events, and retains them. Events whose key has ended are
  /// dropped, and noted. The batch is empty, and the caller holds the lock of the table.
  mutating func find(
    _ events: Int, in table: RegistrationTable, _ unmatched: inout Orphans.UnmatchedEvents
  ) {
    for event in 0..<events {
      let event = self.events[event]
      let registration = Registration(key: event.key)
      guard let receiver = table[registration] else {
        if event.key != Poller.wakeKey { unmatched.append(event.key) }
        continue
      }
      (notifications + count).initialize(
        to: Notification(
          receiver: receiver, readiness: Readiness(rawValue: event.events),
          registration: registration))
      count += 1
    }
  }

  /// Notifies the receivers, and releases them. The batch is empty then.
  mutating func deliver(on thread: ThreadContext) {
    for place in 0..<count {
      let notification = (notifications + place).move()
      notification.receiver.becameReady(
        notification.readiness, as: notification.registration, on: thread)
    }
    count = 0
  }

  /// Frees the memory of an empty batch.
  func deallocate() {
    events.deallocate()
    notifications.deallocate()
  }
}
