// Room: Lanes/LaneRegistry. Every lane that there is, for those who must come to each of them.
// A child that was forked must: which lanes other threads held or had filled no list says, since an idle queue is in
// none, and a thread may have taken one without having said so yet.
// In parts by address, so that queues that are made and die on several threads do not meet at one lock. A lane knows its
// place, and to come and go it touches no other lane. It is in it from the end of its initialiser to the beginning of
// its end. Timers are not: the store of their entries knows them all (Events/TimerEntry).

enum LaneRegistry {
  private struct Part: ~Copyable {
    let lock = Lock()
    // Guarded by the lock. A place holds a lane's address or, in an odd number, the next free place.
    var places: [UInt] = []
    var free = nowhere
  }
  /// The place of a lane that is not in it.
  static var nowhere: UInt32 { .max }

  private static var partCount: Int { 32 }
  // SAFETY: made once, never returned; each part is read and written under its lock.
  nonisolated(unsafe) private static let parts = {
    let parts = UnsafeMutablePointer<Part>.allocate(capacity: partCount)
    for index in 0..<partCount { (parts + index).initialize(to: Part()) }
    return parts
  }()

  private static func part(of lane: Lane) -> UnsafeMutablePointer<Part> {
    // Objects are some hundred bytes apart.
    let address = UInt(bitPattern: lane.address)
    return parts + Int((address >> 5 ^ address >> 12) % UInt(partCount))
  }

  static func add(_ lane: Lane) {
    #if !GRANDCENTRAL_MODEL
      let part = part(of: lane)
      let address = UInt(bitPattern: lane.address)
      part.pointee.lock.lock()
      let place = part.pointee.free
      if place == nowhere {
        // Four thousand million lanes would be half a terabyte.
        lane.registeredPlace = UInt32(truncatingIfNeeded: part.pointee.places.count)
        part.pointee.places.append(address)
      } else {
        lane.registeredPlace = place
        part.pointee.free = UInt32(truncatingIfNeeded: part.pointee.places[Int(place)] >> 1)
        part.pointee.places[Int(place)] = address
      }
      part.pointee.lock.unlock()
    #endif
  }

  static func remove(_ lane: Lane) {
    #if !GRANDCENTRAL_MODEL
      let part = part(of: lane)
      part.pointee.lock.lock()
      part.pointee.places[Int(lane.registeredPlace)] = UInt(part.pointee.free) << 1 | 1
      part.pointee.free = lane.registeredPlace
      part.pointee.lock.unlock()
    #endif
  }

  /// In a child that was forked, where nobody else is. Some may have no reference left.
  static func visitAll(_ body: (Unmanaged<Lane>) -> Void) {
    for index in 0..<partCount {
      // By number: whoever is visited may come to leave.
      for place in 0..<parts[index].places.count {
        let word = parts[index].places[place]
        guard word & 1 == 0, let raw = UnsafeRawPointer(bitPattern: word) else { continue }
        // SAFETY: a lane takes its address out before its memory goes.
        body(Unmanaged.fromOpaque(raw))
      }
    }
  }
}
