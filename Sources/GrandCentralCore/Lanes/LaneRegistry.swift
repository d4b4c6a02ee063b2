// Room: Lanes/LaneRegistry. All lanes of the process, so that a forked child can reset them.
// No other list has them all: an idle queue is in none, and a thread may have entered a lane
// without having recorded that yet.
// A lane knows its slot, so adding and removing touch no other lane. The slot is filled from the
// end of the lane's initialiser to the start of its deinitialiser.
// Many queues live only briefly, so a thread caches the slot that it used last. When a lane ends on
// the thread, the next lane made there takes the slot, without a lock. Other slots come from tables
// chosen by the lane's address, so that threads do not contend for one lock.
// Invariant: in a child, the slots agree with the lanes that are alive. A lane fills and clears its
// slot inside the gate for forks (put(), in Lane+Fork).
// A lane that another structure always knows needs no slot; that structure registers as an annex,
// as the store of timers' entries does.
import CGrandCentralLinux

enum LaneRegistry {
  /// The slot number of a lane that is not registered.
  static var nowhere: UInt32 { 0 }

  /// How many low bits of a slot number select the table. The rest is the number in that table.
  private static var tableBits: UInt32 { 5 }
  static var tableCount: Int { 1 << tableBits }
  // SAFETY: allocated once and never freed; see LanePlaces.
  nonisolated(unsafe) static let tables = {
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

  /// Takes a free slot for the lane at `address`.
  @inline(never)
  private static func take(for address: UInt64) -> UInt32 {
    // Objects are some hundred bytes apart.
    let number = (address >> 5 ^ address >> 12) % UInt64(tableCount)
    return tables[Int(number)].take() << tableBits | UInt32(number)
  }

  private static func give(_ place: UInt32) { table(of: place).pointee.give(place >> tableBits) }

  // SAFETY: the lane itself calls both, in its initialiser and its deinitialiser.

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

  /// Returns the cached slot when the thread ends.
  static func drain(_ thread: ThreadContext) {
    if thread.pointee.lane_place_kept != 0 { give(thread.pointee.lane_place) }
    thread.pointee.lane_place_kept = 0
    thread.pointee.lane_place = nowhere
  }
}
