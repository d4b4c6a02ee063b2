// Room: Reactor/Registration. Connects a descriptor in the poller's set to its receiver.
// The kernel stores a key: a slot of the poller's table, and the slot's generation, which grows
// each time the slot is freed or its receiver gets another key. An event that was under way when
// its registration ended carries an old generation, finds no receiver, and is dropped. So it
// reaches neither the old receiver nor the next one of the slot, whatever the descriptor's number
// stands for by then.

/// Receives the readiness of a descriptor.
protocol ReadinessReceiver: AnyObject, Sendable {
  /// Called by a poller thread that holds no lock of the engine. Must not sleep.
  func becameReady(_ readiness: Readiness, on thread: ThreadContext)

  /// The same, with the key under which the kernel reported it, for a receiver whose key changes.
  func becameReady(_ readiness: Readiness, as reported: Registration, on thread: ThreadContext)

  /// What it listened to is the parent's: see Reactor+Fork. The registration has ended.
  func leaveToParent()

  /// The program has closed the poller's set, and probably this receiver's descriptor. Returns what
  /// makes another descriptor, if anything does. See Poller+Loss.
  func descriptorWasClosed() -> (any ResourceRetry)?

  /// The poller has another set, in which this receiver's descriptor is missing, if the receiver
  /// has added it by itself. See Poller+Orphans.
  func setWasReplaced(on thread: ThreadContext)
}

extension ReadinessReceiver {
  func becameReady(_ readiness: Readiness, as reported: Registration, on thread: ThreadContext) {
    becameReady(readiness, on: thread)
  }
}

struct Registration: Hashable {
  let key: UInt64

  init(slot: Int, generation: UInt32) {
    key = UInt64(generation) << 32 | UInt64(UInt32(slot))
  }

  init(key: UInt64) { self.key = key }

  var slot: Int { Int(UInt32(truncatingIfNeeded: key)) }
  var generation: UInt32 { UInt32(truncatingIfNeeded: key >> 32) }
}

/// A descriptor that belongs to its receiver, and how it is watched.
struct WatchedDescriptor {
  let descriptor: Int32
  let interest: Readiness
  let mode: ReadinessSet.Mode

  /// Returns 0 or an errno.
  func add(to set: Int32, _ registration: Registration) -> Int32 {
    ReadinessSet.add(set, descriptor, interest, mode, key: registration.key)
  }

  /// Returns 0 or an errno.
  func change(in set: Int32, _ registration: Registration) -> Int32 {
    ReadinessSet.change(set, descriptor, interest, mode, key: registration.key)
  }
}

/// The receiver of each slot. Guarded by the poller's lock.
struct RegistrationTable {
  struct Slot {
    var generation: UInt32 = 0
    var receiver: (any ReadinessReceiver)?
    /// `nil`: the receiver adds its descriptor to the set by itself.
    var watched: WatchedDescriptor?
  }
  var slots: [Slot] = []
  private var free: [Int] = []

  mutating func insert(
    _ receiver: any ReadinessReceiver, _ watched: WatchedDescriptor? = nil
  ) -> Registration {
    let slot = free.popLast() ?? slots.count
    if slot == slots.count { slots.append(Slot()) }
    slots[slot].receiver = receiver
    slots[slot].watched = watched
    return Registration(slot: slot, generation: slots[slot].generation)
  }

  /// Removes a receiver, and returns it so that the caller releases it outside the lock.
  mutating func remove(_ registration: Registration) -> (any ReadinessReceiver)? {
    guard let receiver = self[registration] else { return nil }
    slots[registration.slot].receiver = nil
    slots[registration.slot].watched = nil
    // It may wrap around: an event would have to be under way for four thousand million
    // generations.
    slots[registration.slot].generation &+= 1
    free.append(registration.slot)
    return receiver
  }

  /// Replaces the key of a receiver.
  mutating func renewKey(of registration: Registration) -> Registration {
    guard self[registration] != nil else { return registration }
    slots[registration.slot].generation &+= 1
    return Registration(slot: registration.slot, generation: slots[registration.slot].generation)
  }

  subscript(registration: Registration) -> (any ReadinessReceiver)? {
    guard registration.slot < slots.count,
      slots[registration.slot].generation == registration.generation
    else { return nil }
    return slots[registration.slot].receiver
  }

  func watched(_ registration: Registration) -> WatchedDescriptor? {
    self[registration] == nil ? nil : slots[registration.slot].watched
  }

  /// Forgets the descriptor of a receiver, and returns it.
  mutating func stopWatching(_ registration: Registration) -> WatchedDescriptor? {
    self[registration] == nil ? nil : slots[registration.slot].watched.take()
  }

  /// Forgets the descriptors of all receivers.
  mutating func stopWatching() {
    for slot in slots.indices { slots[slot].watched = nil }
  }
}
