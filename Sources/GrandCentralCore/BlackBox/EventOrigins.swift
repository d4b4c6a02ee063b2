// Room: BlackBox/EventOrigins. Where items are submitted: the stacks of the level `origins`.
// A chunk names each stack once, by its return addresses and an id, and later by the id alone. So a
// chunk explains itself, whatever happens to other chunks, and a stack needs no table that threads
// share. The id is a hash of the addresses: stacks with one id are taken for one.
// The thread remembers the ids of its chunk in a table with one id a slot: a stack that another one
// has displaced is named again, which costs words and loses nothing.
import CGrandCentralLinux

/// What a thread notes about the stacks of its items. Only its thread uses it.
struct OriginNotes {
  /// The memory of the thread's frames; not known: both bounds 0.
  var stack = gc_stack_bounds(low: 0, high: 0)
  /// The stack that the chunk names for the next submission, or 0.
  var now: UInt64 = 0
  /// The ids of the chunk's stacks, then the frames of the stack that is looked at. Made with the
  /// first stack.
  var words: UnsafeMutablePointer<UInt64>?

  static var slots: Int { 64 }

  /// Forgets which stacks the chunk has.
  mutating func forget() {
    now = 0
    words?.update(repeating: 0, count: Self.slots)
  }
}

extension BlackBox {
  /// Records from where the calling thread submits its next item, unless the chunk says so already.
  /// That item's submission finds room in the same chunk. Not inlined: its frame would cost levels
  /// that walk no stack.
  @inline(never)
  static func recordOrigin(
    _ control: UInt64, _ writer: UnsafeMutablePointer<EventWriter>, _ thread: ThreadContext,
    _ now: UInt64
  ) {
    let most = EventLayout.maxFrames
    guard let words = writer.pointee.origins.words ?? makeOriginNotes(writer),
      room(for: most + 4, in: writer, thread, now) != nil
    else { return }
    noteRecording(control, writer)
    let frames = words + OriginNotes.slots
    let count = Int(gc_walk_frames(frames, UInt32(most), writer.pointee.origins.stack))
    let id = identify(frames, count)
    if id == writer.pointee.origins.now { return }
    writer.pointee.origins.now = id
    let slot = words + Int(id % UInt64(OriginNotes.slots))
    let isKnown = slot.pointee == id
    slot.pointee = id
    let chunk = writer.pointee.chunk
    var used = writer.pointee.used
    chunk.put(EventLayout.head(isKnown ? .origin : .stack, ticks: now), at: used)
    chunk.put(EventLayout.item(id, place: isKnown ? 0 : UInt32(count)), at: used + 1)
    used += 2
    for index in 0..<(isKnown ? 0 : count) {
      chunk.put(frames[index], at: used)
      used += 1
    }
    // At once: a reader takes whole events.
    writer.pointee.used = used
    chunk.publish(used)
  }

  /// The id of a stack: not 0.
  @inline(__always)
  private static func identify(_ frames: UnsafeMutablePointer<UInt64>, _ count: Int) -> UInt64 {
    var id: UInt64 = 0x9e37_79b9_7f4a_7c15
    for index in 0..<count {
      // An odd number, so that no bit is lost; the shift brings the upper bits down.
      id = (id ^ frames[index]) &* 0xd6e8_feb8_6659_fd93
      id ^= id >> 32
    }
    return max(1, id & EventLayout.addressMask)
  }

  @inline(never)
  private static func makeOriginNotes(_ writer: UnsafeMutablePointer<EventWriter>)
    -> UnsafeMutablePointer<UInt64>?
  {
    let count = OriginNotes.slots + EventLayout.maxFrames
    let made = UnsafeMutablePointer<UInt64>.allocate(capacity: count)
    made.initialize(repeating: 0, count: count)
    writer.pointee.origins.words = made
    writer.pointee.origins.stack = gc_stack_bounds_of_thread()
    return made
  }

  /// Forgets what the chunk has named, if another recorder has come: it has not read that.
  @inline(__always)
  static func noteRecording(_ control: UInt64, _ writer: UnsafeMutablePointer<EventWriter>) {
    if writer.pointee.control == control { return }
    writer.pointee.control = control
    forgetNames(writer)
  }

  static func forgetNames(_ writer: UnsafeMutablePointer<EventWriter>) {
    writer.pointee.code = ClientCode()
    writer.pointee.origins.forget()
  }
}
