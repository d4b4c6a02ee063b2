// Room: Lanes/LaneRegistry. Every lane that there is, for those who must come to each of them.
// A child that was forked must: which lanes other threads held or had filled no list says, since an idle queue is in
// none, and a thread may have taken one without having said so yet.
// In parts by address, so that queues that are made and die on several threads do not meet at one lock. A lane knows its
// place, and to come and go it touches no other lane. It is in it from the end of its initialiser to the beginning of
// its end. Lanes that are known elsewhere all the time need no place: the store of timers' entries is such an annex.

enum LaneRegistry {
  /// Guarded by the lock of its part. A place holds a lane's address or, in an odd number, the next free place.
  private struct Table {
    var places: [UInt] = []
    var free = nowhere
  }
  private struct Part: ~Copyable {
    let lock = Lock()
    // Memory of its own: to change a field of what a pointer leads to is an access to all of it, the lock too.
    let table: UnsafeMutablePointer<Table>

    init() {
      table = .allocate(capacity: 1)
      table.initialize(to: Table())
    }
  }
  typealias Visitor = (Unmanaged<Lane>) -> Void
  private static let annexes = Annexes()

  /// The place of a lane that is not in it.
  static var nowhere: UInt32 { .max }

  private static var partCount: Int { 32 }
  // SAFETY: made once, never returned; each part is read and written under its lock.
  nonisolated(unsafe) private static let parts = {
    let parts = UnsafeMutablePointer<Part>.allocate(capacity: partCount)
    for index in 0..<partCount { (parts + index).initialize(to: Part()) }
    return parts
  }()

  private static func part(of address: UInt) -> UnsafeMutablePointer<Part> {
    // Objects are some hundred bytes apart.
    parts + Int((address >> 5 ^ address >> 12) % UInt(partCount))
  }

  // SAFETY: both are called by the lane itself, at its beginning and its end.

  static func add(_ lane: Unmanaged<Lane>) {
    #if !GRANDCENTRAL_MODEL
      let address = UInt(bitPattern: lane.toOpaque())
      let part = part(of: address)
      let table = part.pointee.table
      part.pointee.lock.lock()
      let place = table.pointee.free
      if place == nowhere {
        // Four thousand million lanes would be half a terabyte.
        let place = UInt32(truncatingIfNeeded: table.pointee.places.count)
        lane._withUnsafeGuaranteedRef { $0.registeredPlace = place }
        table.pointee.places.append(address)
      } else {
        lane._withUnsafeGuaranteedRef { $0.registeredPlace = place }
        table.pointee.free = UInt32(truncatingIfNeeded: table.pointee.places[Int(place)] >> 1)
        table.pointee.places[Int(place)] = address
      }
      part.pointee.lock.unlock()
    #endif
  }

  static func remove(_ lane: Unmanaged<Lane>) {
    #if !GRANDCENTRAL_MODEL
      let part = part(of: UInt(bitPattern: lane.toOpaque()))
      let table = part.pointee.table
      let place = lane._withUnsafeGuaranteedRef { $0.registeredPlace }
      part.pointee.lock.lock()
      table.pointee.places[Int(place)] = UInt(table.pointee.free) << 1 | 1
      table.pointee.free = place
      part.pointee.lock.unlock()
    #endif
  }

  /// `visit` comes to each of the lanes that are known elsewhere.
  static func add(annex visit: @escaping @Sendable (Visitor) -> Void) {
    // Once beforehand: see ForkGate.whenForked().
    visit { _ in }
    annexes.lock.withLock { annexes.all.append(visit) }
  }

  /// In a child that was forked, where nobody else is. Some may have no reference left.
  static func visitAll(_ body: Visitor) {
    for index in 0..<partCount {
      // By number: whoever is visited may come to leave.
      let table = parts[index].table
      for place in 0..<table.pointee.places.count {
        let word = table.pointee.places[place]
        guard word & 1 == 0, let raw = UnsafeRawPointer(bitPattern: word) else { continue }
        // SAFETY: a lane takes its address out before its memory goes.
        body(Unmanaged.fromOpaque(raw))
      }
    }
    for visit in annexes.lock.withLock({ annexes.all }) { visit(body) }
  }
}

private final class Annexes: @unchecked Sendable {
  let lock = Lock()
  /// Guarded by the lock.
  var all: [@Sendable (LaneRegistry.Visitor) -> Void] = []
}
