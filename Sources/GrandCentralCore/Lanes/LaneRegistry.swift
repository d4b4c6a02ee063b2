// Room: Lanes/LaneRegistry. Every lane that there is, for those who must come to each of them.
// A child that was forked must: which lanes other threads held or had filled no list says, since an idle queue is in
// none, and a thread may have taken one without having said so yet.
// A lane knows its place, and to come and go it touches no other lane. It is in it from the end of its initialiser to the
// beginning of its end. Queues are made for a moment, so a thread remembers the place that it used last: when its lane has
// ended on that thread, the next lane gets it, and neither takes a lock. Other places come from tables by the lane's address,
// so that threads do not meet at one lock.
// What is in a place and what is alive must agree in a child: a lane fills and clears its place inside the gate for forks.
// Lanes that are known elsewhere all the time need no place: the store of timers' entries is such an annex.
import CLinux

enum LaneRegistry {
  typealias Visitor = (Unmanaged<Lane>) -> Void
  private static let annexes = Annexes()

  /// The place of a lane that is not in it.
  static var nowhere: UInt32 { 0 }

  /// A place: its number in a table, and by the lowest bits which table.
  private static var tableBits: UInt32 { 5 }
  private static var tableCount: Int { 1 << tableBits }
  // SAFETY: made once, never returned; see LanePlaces.
  nonisolated(unsafe) private static let tables = {
    let tables = UnsafeMutablePointer<LanePlaces>.allocate(capacity: tableCount)
    for index in 0..<tableCount { (tables + index).initialize(to: LanePlaces()) }
    return tables
  }()

  private static func table(of place: UInt32) -> UnsafeMutablePointer<LanePlaces> {
    tables + (Int(place) & (tableCount - 1))
  }

  private static func word(of place: UInt32) -> UnsafeMutablePointer<UInt64> {
    table(of: place).pointee.word(of: place >> tableBits)
  }

  /// A place for the lane at an address.
  @inline(never)
  private static func take(for address: UInt64) -> UInt32 {
    // Objects are some hundred bytes apart.
    let number = (address >> 5 ^ address >> 12) % UInt64(tableCount)
    return tables[Int(number)].take() << tableBits | UInt32(number)
  }

  private static func give(_ place: UInt32) { table(of: place).pointee.give(place >> tableBits) }

  // SAFETY: both are called by the lane itself, at its beginning and its end.

  static func add(_ lane: Unmanaged<Lane>) {
    #if !GRANDCENTRAL_MODEL
      let thread = currentThread()
      let address = UInt64(UInt(bitPattern: lane.toOpaque()))
      if thread.pointee.lane_place_kept == 0 { remember(take(for: address), on: thread) }
      thread.pointee.lane_place_kept = 0
      lane._withUnsafeGuaranteedRef { $0.registeredPlace = thread.pointee.lane_place }
      put(address, into: thread.pointee.lane_word.unsafelyUnwrapped, on: thread)
    #endif
  }

  static func remove(_ lane: Unmanaged<Lane>) {
    #if !GRANDCENTRAL_MODEL
      let thread = currentThread()
      let place = lane._withUnsafeGuaranteedRef { $0.registeredPlace }
      if place != thread.pointee.lane_place { return remove(from: place, on: thread) }
      put(LanePlaces.unused, into: thread.pointee.lane_word.unsafelyUnwrapped, on: thread)
      thread.pointee.lane_place_kept = 1
    #endif
  }

  @inline(never)
  private static func remove(from place: UInt32, on thread: ThreadContext) {
    put(LanePlaces.unused, into: word(of: place), on: thread)
    if thread.pointee.lane_place_kept != 0 { return give(place) }
    remember(place, on: thread)
    thread.pointee.lane_place_kept = 1
  }

  @inline(never)
  private static func remember(_ place: UInt32, on thread: ThreadContext) {
    thread.pointee.lane_place = place
    thread.pointee.lane_word = word(of: place)
  }

  @inline(__always)
  private static func put(
    _ content: UInt64, into word: UnsafeMutablePointer<UInt64>, on thread: ThreadContext
  ) {
    ForkGate.enter(thread)
    word.pointee = content
    ForkGate.leave(thread)
  }

  /// At a thread's end: the place that it keeps.
  static func drain(_ thread: ThreadContext) {
    if thread.pointee.lane_place_kept != 0 { give(thread.pointee.lane_place) }
    thread.pointee.lane_place_kept = 0
    thread.pointee.lane_place = nowhere
  }

  /// `visit` comes to each of the lanes that are known elsewhere.
  static func add(annex visit: @escaping @Sendable (Visitor) -> Void) {
    // Once beforehand: see ForkGate.whenForked().
    visit { _ in }
    annexes.lock.withLock { annexes.all.append(visit) }
  }

  /// In a child that was forked, where nobody else is. Some may have no reference left.
  static func visitAll(_ body: Visitor) {
    for index in 0..<tableCount {
      tables[index].visit { address in
        guard let raw = UnsafeRawPointer(bitPattern: UInt(address)) else { return }
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
