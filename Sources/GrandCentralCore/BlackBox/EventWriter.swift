// Room: BlackBox/EventWriter. What a thread records while another process asks for it: items that
// are submitted, start and end, waits, and new queues.
// A fast path loads the control word, which another process sets (EventLayout). If the word asks
// for samples, a submission counts, and marks the node that is one. A fast path calls these
// functions for an item that is recorded. Each decides by the level, and stops when the lease has
// ended. No system call is made beyond the clock, and no memory is allocated but the thread's
// writer.
// An event is lost if threads have all chunks, or if a chunk is recycled before it is read.
// A thread keeps its writer until it ends, also while it has no chunk: a function that records an
// event may record another one on the way, such as that of a queue that gets its place.
import CGrandCentralLinux

/// The code of an item, as addresses.
struct ClientCode: Equatable {
  /// 0: unknown.
  var address: UInt = 0
  /// What the block of this code has captured first, if it may be code; 0: nothing. A closure of
  /// Swift that is passed as a block is called by a thunk, which all closures of its type share.
  var captured: UInt = 0
}

/// A thread's chunk, and how far it is filled. Only its thread uses it.
struct EventWriter {
  var chunk: EventChunk
  /// The chunk's number; `nil`: the thread has none, and `used` leaves no room in it.
  var index: Int?
  var used: Int
  /// The code that the chunk names for the items that start.
  var code = ClientCode()
  /// The control word for which the chunk names code and stacks.
  var control: UInt64 = 0
  /// What the thread notes about the stacks of its items: see EventOrigins.
  var origins = OriginNotes()
}

extension WorkNode {
  /// Whether a recording shows the submission of the node, an item, by the calling thread.
  @inline(__always)
  static func isRecorded(from thread: ThreadContext) -> Bool {
    gc_records_events() && (gc_records_each_item() || gc_is_sample(thread))
  }

  /// Runs a node that a queue has reached, and records it if it is an item.
  @inline(__always)
  func runItem(of queue: UnsafeMutableRawPointer?, on thread: ThreadContext) {
    if gc_records_events(), gc_records_each_item() || traits.contains(.sampled) {
      BlackBox.runRecorded(self, of: queue, on: thread)
    } else {
      run(on: thread)
    }
  }

  /// runItem() for the drain of a lane, where most nodes have no carrier and are no samples: one
  /// comparison finds each of the rare cases.
  @inline(__always)
  func runInLane(_ queue: UnsafeMutableRawPointer, on thread: ThreadContext) {
    if gc_records_each_item_or(traits.rareByte) { return runRarely(queue, on: thread) }
    entry(raw, thread)
  }

  @inline(never)
  private func runRarely(_ queue: UnsafeMutableRawPointer, on thread: ThreadContext) {
    runItem(of: queue, on: thread)
  }
}

extension BlackBox {
  /// What GRANDCENTRAL_RECORD asks for: `items` or `sampled`, until another process takes over.
  static func controlFromEnvironment() -> UInt64 {
    let level: EventLevel
    switch Process.environment("GRANDCENTRAL_RECORD") {
    case "items": level = .items
    case "sampled": level = .sampled
    case "origins": level = .origins
    default: return 0
    }
    return EventLayout.control(level, countsTicks: gc_counts_ticks())
  }

  /// Whether anything is recorded.
  @inline(__always)
  private static func isOn(_ control: UInt64) -> Bool {
    control & (EventLayout.levelMask | EventLayout.samples) != 0
  }

  /// The level, if each item is recorded; otherwise 0.
  @inline(__always)
  private static func levelOfItems(_ control: UInt64) -> UInt64 { control & EventLayout.levelMask }

  /// The time of an event; `nil` if the lease has ended.
  @inline(__always)
  private static func ticks(_ control: UInt64) -> UInt64? {
    let now = gc_ticks(control & EventLayout.countsTicks != 0)
    return now <= gc_event_lease_now() ? now : nil
  }

  // MARK: Items

  /// Records that the calling thread is about to submit `node`, an item. Call if isRecorded().
  /// `place`: that of the queue.
  @inline(__always)
  static func recordSubmission(
    of node: WorkNode, place: @autoclosure () -> UInt32, from thread: ThreadContext
  ) {
    let control = gc_event_control_now()
    let traits = node.traits
    guard isOn(control), let writer = eventWriter(of: thread), let now = ticks(control)
    else { return }
    if levelOfItems(control) == 0 { node.traits = traits.union(.sampled) }
    // First: the queue may get its place now, and record that.
    let place = place()
    if levelOfItems(control) > UInt64(EventLevel.items.rawValue) {
      recordOrigin(control, writer, thread, now)
    }
    append(
      EventLayout.head(.submit, detail: traits.qos.rank.rawValue, ticks: now),
      EventLayout.item(UInt64(UInt(bitPattern: node.raw)), place: place), to: writer, thread, now)
  }

  /// Runs a node, and records it if it is an item that the recording shows.
  @inline(never)
  static func runRecorded(
    _ node: WorkNode, of queue: UnsafeMutableRawPointer?, on thread: ThreadContext
  ) {
    let control = gc_event_control_now()
    let traits = node.traits
    guard traits.isDisjoint(with: [.lane, .carried, .wrapper]), isOn(control),
      levelOfItems(control) != 0 || traits.contains(.sampled),
      let writer = eventWriter(of: thread), let now = ticks(control)
    else { return node.run(on: thread) }
    let band = PackedQoS(rawValue: thread.pointee.qos).rank
    let (place, isSource) = queue.map { placeOfItems(of: $0) } ?? (0, false)
    var code = ClientCode()
    if !isSource { code.address = codeReader(node.raw, &code.captured) }
    // These events go into one chunk: a chunk says for itself what its items run.
    if room(for: 6, in: writer, thread, now) == nil { return node.run(on: thread) }
    noteRecording(control, writer)
    if code != writer.pointee.code {
      writer.pointee.code = code
      appendUnchecked(
        EventLayout.head(.code, ticks: now),
        EventLayout.item(UInt64(code.address), place: 0), to: writer)
      if code.captured != 0 {
        appendUnchecked(
          EventLayout.head(.code, detail: EventLayout.capturedCode, ticks: now),
          EventLayout.item(UInt64(code.captured), place: 0), to: writer)
      }
    }
    appendUnchecked(
      EventLayout.head(isSource ? .sourceStart : .start, detail: band.rawValue, ticks: now),
      EventLayout.item(UInt64(UInt(bitPattern: node.raw)), place: place), to: writer)
    node.run(on: thread)
    record(.end, on: thread)
  }

  // SAFETY: a queue that runs an item is alive, and so is its caller's reference.
  /// The place of the queue on which an item runs: for an event of a source, that of its target.
  @inline(__always)
  private static func placeOfItems(of queue: UnsafeMutableRawPointer)
    -> (place: UInt32, isSource: Bool)
  {
    Unmanaged<DispatchObject>.fromOpaque(queue)._withUnsafeGuaranteedRef { $0.placeOfItems() }
  }

  /// Records that the handler of a timer begins on the calling thread. `place`: that of the queue.
  @inline(never)
  static func recordTimer(lateBy nanoseconds: UInt64, place: UInt32) {
    let control = gc_event_control_now()
    let thread = currentThread()
    guard isOn(control), let writer = eventWriter(of: thread), let now = ticks(control)
    else { return }
    append(
      EventLayout.head(.timer, ticks: now),
      EventLayout.item(min(nanoseconds, EventLayout.addressMask), place: place), to: writer,
      thread, now)
  }

  /// Records an event of one word.
  @inline(__always)
  private static func record(_ kind: EventKind, on thread: ThreadContext) {
    let control = gc_event_control_now()
    guard isOn(control), let writer = eventWriter(of: thread), let now = ticks(control),
      let index = room(for: 1, in: writer, thread, now)
    else { return }
    writer.pointee.chunk.put(EventLayout.head(kind, ticks: now), at: index)
    writer.pointee.used = index &+ 1
    writer.pointee.chunk.publish(index &+ 1)
  }

  // MARK: Waits and queues

  @inline(never)
  static func recordWait(_ wait: BoardWait, of thread: ThreadContext) {
    let control = gc_event_control_now()
    guard levelOfItems(control) != 0, let writer = eventWriter(of: thread),
      let now = ticks(control)
    else { return }
    var held: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    let count = withUnsafeMutableBytes(of: &held) { collectHeld(by: thread, into: $0) }
    // Room for all of them: a chunk that cannot be changed ends the writer.
    if room(for: 2 * count + 2, in: writer, thread, now) == nil { return }
    withUnsafeBytes(of: &held) { held in
      for index in 0..<count {
        let place = held.load(fromByteOffset: index * 4, as: UInt32.self)
        if place == 0 { continue }
        append(
          EventLayout.head(.held, ticks: now), EventLayout.item(0, place: place), to: writer,
          thread, now)
      }
    }
    append(
      EventLayout.head(.wait, detail: wait.kind.rawValue, ticks: now),
      EventLayout.item(UInt64(wait.object), place: wait.queue), to: writer, thread, now)
  }

  @inline(never)
  static func recordEndOfWait(of thread: ThreadContext) {
    if gc_records_each_item() { record(.waitEnd, on: thread) }
  }

  /// Records which queue has a place from now on.
  @inline(never)
  static func recordQueue(_ place: UInt32, kind: UInt8, label: String) {
    let control = gc_event_control_now()
    let thread = currentThread()
    var label = label
    guard isOn(control), let writer = eventWriter(of: thread), let now = ticks(control)
    else { return }
    label.withUTF8 { bytes in
      var rest = bytes.prefix(BoardLayout.Queue.maxLabelBytes)
      let words = (rest.count + 7) / 8
      guard var index = room(for: 2 + words, in: writer, thread, now) else { return }
      let chunk = writer.pointee.chunk
      chunk.put(EventLayout.head(.queue, ticks: now), at: index)
      chunk.put(
        EventLayout.item(UInt64(kind) << 8 | UInt64(rest.count), place: place), at: index + 1)
      index += 2
      while !rest.isEmpty {
        var word: UInt64 = 0
        withUnsafeMutableBytes(of: &word) { $0.copyBytes(from: rest.prefix(8)) }
        chunk.put(word, at: index)
        index += 1
        rest = rest.dropFirst(8)
      }
      writer.pointee.used = index
      chunk.publish(index)
    }
  }

  // MARK: Chunks

  @inline(__always)
  private static func eventWriter(of thread: ThreadContext)
    -> UnsafeMutablePointer<EventWriter>?
  {
    // SAFETY: set by makeEventWriter(), and nil in a child that has another board.
    if let raw = thread.pointee.events { return raw.assumingMemoryBound(to: EventWriter.self) }
    return makeEventWriter(for: thread)
  }

  @inline(never)
  private static func makeEventWriter(for thread: ThreadContext)
    -> UnsafeMutablePointer<EventWriter>?
  {
    guard let (chunk, taken) = takeChunk() else { return nil }
    let made = UnsafeMutablePointer<EventWriter>.allocate(capacity: 1)
    made.initialize(to: EventWriter(chunk: chunk, index: taken.index, used: 0))
    begin(taken, made, thread, gc_ticks(gc_event_control_now() & EventLayout.countsTicks != 0))
    thread.pointee.events = UnsafeMutableRawPointer(made)
    return made
  }

  private static func takeChunk() -> (EventChunk, EventChunkPool.Taken)? {
    guard let start, let taken = shared.eventChunks.take() else { return nil }
    let header = start + EventLayout.directoryOffset + taken.index * EventLayout.headerBytes
    let data = start + EventLayout.chunksOffset + taken.index * EventLayout.chunkBytes
    return (EventChunk(header: words(at: header), words: words(at: data)), taken)
  }

  /// Begins a chunk with the thread's name.
  private static func begin(
    _ taken: EventChunkPool.Taken, _ writer: UnsafeMutablePointer<EventWriter>,
    _ thread: ThreadContext, _ now: UInt64
  ) {
    let chunk = writer.pointee.chunk
    let name = nameWords()
    chunk.touch()
    chunk.recycle(
      turn: taken.turn, owner: thread.pointee.tid, base: now, previous: taken.previous)
    chunk.put(EventLayout.head(.thread, ticks: now), at: 0)
    chunk.put(name.0, at: 1)
    chunk.put(name.1, at: 2)
    writer.pointee.used = 3
    forgetNames(writer)
    chunk.publish(3)
  }

  /// The index of the next `count` words, in another chunk if this one is full.
  @inline(__always)
  static func room(
    for count: Int, in writer: UnsafeMutablePointer<EventWriter>, _ thread: ThreadContext,
    _ now: UInt64
  ) -> Int? {
    let used = writer.pointee.used
    if used &+ count <= EventLayout.chunkWords { return used }
    return changeChunk(of: writer, thread, now) ? writer.pointee.used : nil
  }

  @inline(never)
  private static func changeChunk(
    of writer: UnsafeMutablePointer<EventWriter>, _ thread: ThreadContext, _ now: UInt64
  ) -> Bool {
    // Given first: if no other chunk waits, the thread takes its own again.
    giveChunk(of: writer)
    guard let (chunk, taken) = takeChunk() else { return false }
    writer.pointee.chunk = chunk
    writer.pointee.index = taken.index
    begin(taken, writer, thread, now)
    return true
  }

  /// Gives the writer's chunk back, if it has one.
  private static func giveChunk(of writer: UnsafeMutablePointer<EventWriter>) {
    guard let index = writer.pointee.index else { return }
    shared.eventChunks.give(index, used: writer.pointee.used)
    writer.pointee.index = nil
    writer.pointee.used = EventLayout.chunkWords
  }

  @inline(__always)
  private static func append(
    _ head: UInt64, _ item: UInt64, to writer: UnsafeMutablePointer<EventWriter>,
    _ thread: ThreadContext, _ now: UInt64
  ) {
    guard room(for: 2, in: writer, thread, now) != nil else { return }
    appendUnchecked(head, item, to: writer)
  }

  /// Appends an event for which room() has found room.
  @inline(__always)
  private static func appendUnchecked(
    _ head: UInt64, _ item: UInt64, to writer: UnsafeMutablePointer<EventWriter>
  ) {
    let index = writer.pointee.used
    let chunk = writer.pointee.chunk
    chunk.put(head, at: index)
    chunk.put(item, at: index &+ 1)
    writer.pointee.used = index &+ 2
    chunk.publish(index &+ 2)
  }

  /// Gives the chunk of a thread that ends back.
  static func endEvents(of thread: ThreadContext) {
    guard let raw = thread.pointee.events else { return }
    thread.pointee.events = nil
    let writer = raw.assumingMemoryBound(to: EventWriter.self)
    giveChunk(of: writer)
    writer.pointee.origins.words?.deallocate()
    writer.deallocate()
  }
}
