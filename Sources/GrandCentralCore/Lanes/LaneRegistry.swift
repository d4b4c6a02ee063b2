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
  // SAFETY: allocated once and never freed; see LaneSlots.
  nonisolated(unsafe) static let tables = {
    let tables = UnsafeMutablePointer<LaneSlots>.allocate(capacity: tableCount)
    for index in 0..<tableCount { (tables + index).initialize(to: LaneSlots()) }
    return tables
  }()

  private static func table(of slot: UInt32) -> UnsafeMutablePointer<LaneSlots> {
    tables + (Int(slot) & (tableCount - 1))
  }

  private static func word(of slot: UInt32) -> UnsafeMutablePointer<UInt64> {
    table(of: slot).pointee.word(of: slot >> tableBits)
  }

  /// Takes a free slot for the lane at `address`.
  @inline(never)
  private static func take(for address: UInt64) -> UInt32 {
    // Objects are some hundred bytes apart.
    let number = (address >> 5 ^ address >> 12) % UInt64(tableCount)
    return tables[Int(number)].take() << tableBits | UInt32(number)
  }

  private static func give(_ slot: UInt32) { table(of: slot).pointee.give(slot >> tableBits) }

  // The lane itself calls both, in its initialiser and its deinitialiser, which pass what they know
  // of it: a reference to the lane would be counted here.

  /// Adds the lane at `address`, and reports its slot before it is filled.
  @inline(__always)
  static func add(_ address: UnsafeMutableRawPointer, at report: (UInt32) -> Void) {
    #if !GRANDCENTRAL_MODEL
      let thread = currentThread()
      let address = UInt64(UInt(bitPattern: address))
      if thread.pointee.lane_slot_kept == 0 { remember(take(for: address), on: thread) }
      thread.pointee.lane_slot_kept = 0
      report(thread.pointee.lane_slot)
      put(address, into: thread.pointee.lane_word.unsafelyUnwrapped, on: thread)
    #endif
  }

  @inline(__always)
  static func remove(from slot: UInt32) {
    #if !GRANDCENTRAL_MODEL
      let thread = currentThread()
      if slot != thread.pointee.lane_slot { return remove(from: slot, on: thread) }
      put(LaneSlots.unused, into: thread.pointee.lane_word.unsafelyUnwrapped, on: thread)
      thread.pointee.lane_slot_kept = 1
    #endif
  }

  @inline(never)
  private static func remove(from slot: UInt32, on thread: ThreadContext) {
    put(LaneSlots.unused, into: word(of: slot), on: thread)
    if thread.pointee.lane_slot_kept != 0 { return give(slot) }
    remember(slot, on: thread)
    thread.pointee.lane_slot_kept = 1
  }

  @inline(never)
  private static func remember(_ slot: UInt32, on thread: ThreadContext) {
    thread.pointee.lane_slot = slot
    thread.pointee.lane_word = word(of: slot)
  }

  /// Returns the cached slot when the thread ends.
  static func drain(_ thread: ThreadContext) {
    if thread.pointee.lane_slot_kept != 0 { give(thread.pointee.lane_slot) }
    thread.pointee.lane_slot_kept = 0
    thread.pointee.lane_slot = nowhere
  }
}
