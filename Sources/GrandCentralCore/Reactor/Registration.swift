// Room: Reactor/Registration. Connects a descriptor in the poller's set to its receiver.
// The kernel stores a key: a slot of the poller's table, and the slot's generation, which grows
// each time the slot is freed. An event that was under way when its registration ended carries an
// old generation, finds no receiver, and is dropped. So it reaches neither the old receiver nor the
// next one of the slot, whatever the descriptor's number stands for by then.

/// Receives the readiness of a descriptor.
protocol ReadinessReceiver: AnyObject, Sendable {
  /// Called by a poller thread that holds no lock of the engine. Must not sleep.
  func becameReady(_ readiness: Readiness, on thread: ThreadContext)

  /// What it listened to is the parent's: see Reactor+Fork. The registration has ended.
  func leaveToParent()

  /// The program has closed the poller's set, and probably this receiver's descriptor. Returns what
  /// makes another descriptor, if anything does. See Poller+Loss.
  func descriptorWasClosed() -> (any ResourceRetry)?
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

/// The receiver of each slot. Guarded by the poller's lock.
struct RegistrationTable {
  struct Slot {
    var generation: UInt32 = 0
    var receiver: (any ReadinessReceiver)?
  }
  var slots: [Slot] = []
  private var free: [Int] = []

  mutating func insert(_ receiver: any ReadinessReceiver) -> Registration {
    let slot = free.popLast() ?? slots.count
    if slot == slots.count { slots.append(Slot()) }
    slots[slot].receiver = receiver
    return Registration(slot: slot, generation: slots[slot].generation)
  }

  /// Removes a receiver, and returns it so that the caller releases it outside the lock.
  mutating func remove(_ registration: Registration) -> (any ReadinessReceiver)? {
    guard let receiver = self[registration] else { return nil }
    slots[registration.slot].receiver = nil
    // It may wrap around: an event would have to be under way for four thousand million
    // generations.
    slots[registration.slot].generation &+= 1
    free.append(registration.slot)
    return receiver
  }

  subscript(registration: Registration) -> (any ReadinessReceiver)? {
    guard registration.slot < slots.count,
      slots[registration.slot].generation == registration.generation
    else { return nil }
    return slots[registration.slot].receiver
  }
}
