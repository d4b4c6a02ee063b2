// Room: Events/Registration. One descriptor in the poller's set, and who is told of it.
// The kernel knows it by a key: where it stands in the poller's table, and a generation that grows each time the
// place is given away. An event that was under way when a registration ended carries an old generation, finds
// nobody, and is dropped: so it can reach neither what is gone nor what has come in its place, whatever the
// descriptor's number stands for by now.

/// Who is told that a descriptor is ready.
protocol ReadinessReceiver: AnyObject, Sendable {
  /// A thread of the poller, holding no lock of the engine's. Must not sleep.
  func becameReady(_ readiness: Readiness, on thread: ThreadContext)
  /// In a child that was forked: it is not registered any more, and what it listened to is the parent's.
  func afterFork()
}

extension ReadinessReceiver {
  func afterFork() {}
}

struct Registration: Hashable {
  let key: UInt64

  init(place: Int, generation: UInt32) {
    key = UInt64(generation) << 32 | UInt64(UInt32(place))
  }

  init(key: UInt64) { self.key = key }

  var place: Int { Int(UInt32(truncatingIfNeeded: key)) }
  var generation: UInt32 { UInt32(truncatingIfNeeded: key >> 32) }
}

/// Who is registered where. Guarded by the poller's lock.
struct RegistrationTable {
  private struct Place {
    var generation: UInt32 = 0
    var receiver: (any ReadinessReceiver)?
  }
  private var places: [Place] = []
  private var free: [Int] = []

  mutating func insert(_ receiver: any ReadinessReceiver) -> Registration {
    let place = free.popLast() ?? places.count
    if place == places.count { places.append(Place()) }
    places[place].receiver = receiver
    return Registration(place: place, generation: places[place].generation)
  }

  /// Returns who was there, so that they are let go of outside the lock.
  mutating func remove(_ registration: Registration) -> (any ReadinessReceiver)? {
    guard let receiver = self[registration] else { return nil }
    places[registration.place].receiver = nil
    // It may come to where it began: an event would have to be under way for four thousand million lives.
    places[registration.place].generation &+= 1
    free.append(registration.place)
    return receiver
  }

  /// Ends all of them, and returns who was there.
  mutating func removeAll() -> [any ReadinessReceiver] {
    var removed: [any ReadinessReceiver] = []
    // Room for one at least: then a rehearsal (ForkGate.whenForked) looks up what such an array is made of.
    removed.reserveCapacity(places.count + 1)
    for place in places.indices {
      let registration = Registration(place: place, generation: places[place].generation)
      if let receiver = remove(registration) { removed.append(receiver) }
    }
    return removed
  }

  subscript(registration: Registration) -> (any ReadinessReceiver)? {
    guard registration.place < places.count,
      places[registration.place].generation == registration.generation
    else { return nil }
    return places[registration.place].receiver
  }
}
