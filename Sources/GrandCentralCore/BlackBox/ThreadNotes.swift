// Room: BlackBox/ThreadNotes. What a thread writes about itself: that it waits, works on a queue,
// or is idle. Each call is made where the thread is slow already: around a sleep, and once for each
// activation of a lane. An idle sync() and an item write nothing.
// Times are those of the coarse clock, which costs a few nanoseconds and is late by up to a tick.
import CGrandCentralLinux

/// A wait, as the board shows it.
struct BoardWait {
  let kind: BoardWaitKind
  let object: UInt
  /// The queue that the thread waits for, or that runs the awaited item.
  let queue: UInt32
  let holderThread: UInt32
  /// Whether the thread enters a concurrent queue alone: it waits for all threads inside.
  let isBarrier: Bool

  /// `holder`: the thread that must continue first, as seen when the wait begins.
  @inline(__always)
  init(
    _ kind: BoardWaitKind, _ object: UnsafeMutableRawPointer? = nil, queue: UInt32 = 0,
    holder: ThreadContext? = nil, isBarrier: Bool = false
  ) {
    self.kind = kind
    self.isBarrier = isBarrier
    self.object = UInt(bitPattern: object)
    self.queue = queue
    // relaxed: shown, and nothing is read through it. A context outlives its thread.
    holderThread = holder.map { $0.shared.threadID.load(ordering: .relaxed) } ?? 0
  }

  /// A wait for the function of `dispatch_once`, which the thread `runner` runs.
  init(once word: UnsafeRawPointer, runner: UInt32) {
    kind = .once
    object = UInt(bitPattern: word)
    queue = 0
    holderThread = runner
    isBarrier = false
  }
}

extension BlackBox {
  typealias Writer = UnsafeMutablePointer<BoardWriter>

  /// The calling thread's writer. Takes a slot at the first call.
  @inline(__always)
  private static func writer(of thread: ThreadContext) -> Writer? {
    // SAFETY: set by attach(), and nil in a child that has another board.
    if let raw = thread.pointee.board { return raw.assumingMemoryBound(to: BoardWriter.self) }
    return start == nil ? nil : attach(thread)
  }

  @inline(never)
  private static func attach(_ thread: ThreadContext) -> Writer? {
    guard let writer = shared.takeWriter() else { return nil }
    thread.pointee.board = UnsafeMutableRawPointer(writer)
    let flags =
      (thread.pointee.worker != nil ? BoardLayout.Thread.isWorker : 0)
      | (thread.pointee.is_main ? BoardLayout.Thread.isMain : 0)
    let name = nameWords()
    writer.pointee.identity = UInt64(thread.pointee.tid) | flags << 32
    writer.pointee.place = 0
    writer.pointee.placeSince = 0
    writer.pointee.record.write(&writer.pointee.turn) { record in
      for index in 1..<BoardLayout.recordWords { record.set(index, 0) }
      record.set(BoardLayout.Thread.identity, writer.pointee.identity)
      record.set(BoardLayout.Thread.activity, activity(.running, of: thread))
      record.set(BoardLayout.Thread.since, Clock.coarseNanoseconds())
      record.set(BoardLayout.Thread.name, name.0)
      record.set(BoardLayout.Thread.name + 1, name.1)
    }
    // SAFETY: the low half of a word of the board, which stays mapped.
    thread.pointee.items_shown = UnsafeMutableRawPointer(
      writer.pointee.record.words + BoardLayout.Thread.items
    ).assumingMemoryBound(to: UInt32.self)
    return writer
  }

  @inline(__always)
  private static func activity(
    _ activity: BoardActivity, of thread: ThreadContext, _ wait: BoardWait? = nil, held: Int = 0
  ) -> UInt64 {
    let band = PackedQoS(rawValue: thread.pointee.qos).rank
    return UInt64(activity.rawValue) | UInt64(band.rawValue) << 8
      | UInt64(wait?.kind.rawValue ?? 0) << 16 | UInt64(held) << BoardLayout.Thread.heldShift
      | (wait?.isBarrier == true ? BoardLayout.Thread.waitsForBarrier : 0)
      | UInt64(wait?.holderThread ?? 0) << 32
  }

  // MARK: Waits

  /// Notes that the calling thread is about to sleep.
  static func noteWait(of thread: ThreadContext, _ wait: BoardWait) {
    open()
    if gc_records_events() { recordWait(wait, of: thread) }
    guard let writer = writer(of: thread) else { return }
    var held: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    let count = withUnsafeMutableBytes(of: &held) { collectHeld(by: thread, into: $0) }
    let place = UInt64(wait.queue) | UInt64(writer.pointee.place) << 32
    writer.pointee.record.write(&writer.pointee.turn) { record in
      record.set(BoardLayout.Thread.activity, activity(.waiting, of: thread, wait, held: count))
      record.set(BoardLayout.Thread.since, Clock.coarseNanoseconds())
      record.set(BoardLayout.Thread.object, UInt64(wait.object))
      record.set(BoardLayout.Thread.queues, place)
      guard count > 0 else { return }
      record.set(BoardLayout.Thread.held, held.0)
      record.set(BoardLayout.Thread.held + 1, held.1)
      record.set(BoardLayout.Thread.held + 2, held.2)
      record.set(BoardLayout.Thread.held + 3, held.3)
    }
    wakeWatch()
  }

  /// Notes that the wait is over.
  static func noteEndOfWait(of thread: ThreadContext) {
    if gc_records_events() { recordEndOfWait(of: thread) }
    guard let writer = writer(of: thread) else { return }
    writer.pointee.record.write(&writer.pointee.turn) { record in
      record.set(BoardLayout.Thread.activity, activity(.running, of: thread))
      record.set(BoardLayout.Thread.since, Clock.coarseNanoseconds())
    }
  }

  /// Writes the records of the queues that the thread is in, innermost first, and returns their
  /// number. The queues of frames are alive: see Lanes/Lane+Where.
  static func collectHeld(
    by thread: ThreadContext, into held: UnsafeMutableRawBufferPointer
  ) -> Int {
    var count = 0
    var next = thread.pointee.frame
    while let frame = next, count < BoardLayout.Thread.maxHeld {
      if let queue = frame.pointee.queueAddress {
        // SAFETY: a frame's queue is an object of the API, held while the frame stands.
        let place = Unmanaged<DispatchObject>.fromOpaque(queue)
          ._withUnsafeGuaranteedRef { $0.placeOnBoard() }
        held.storeBytes(of: place, toByteOffset: count * 4, as: UInt32.self)
        count += 1
      }
      next = frame.pointee.previous
    }
    return count
  }

  // MARK: Groups

  /// Notes that notifications of a group were registered, or submitted: then `change` is negative.
  /// The calling thread needs no record. Threads share the lines, so that few of them meet.
  static func noteNotifications(_ change: Int, from thread: ThreadContext) {
    #if !GRANDCENTRAL_MODEL
      guard let start else { return }
      let line = Int(thread.pointee.tid) % BoardLayout.Header.notificationLines
      // relaxed: a single word that is only shown.
      words(at: start)[BoardLayout.Header.notifications + line * 8].wrappingAdd(
        UInt64(bitPattern: Int64(change)), ordering: .relaxed)
    #endif
  }

  /// Wakes the thread that watches the board, if there is one. Counts no reference, since every
  /// worker comes by here.
  @inline(__always)
  static func wakeWatch() {
    // SAFETY: `shared` is never released.
    Unmanaged.passUnretained(shared.watch)._withUnsafeGuaranteedRef { $0.signal.noteChange() }
  }

  // MARK: Workers

  /// Notes that the calling thread has become a worker.
  static func noteWorker(_ thread: ThreadContext) {
    guard let writer = writer(of: thread) else { return }
    noteActivity(.running, of: thread, writer)
    wakeWatch()
  }

  /// Notes that a worker sleeps without work.
  static func noteIdle(_ thread: ThreadContext) {
    guard let writer = writer(of: thread) else { return }
    writer.pointee.place = 0
    noteActivity(.idle, of: thread, writer)
    wakeWatch()
  }

  /// Notes that a worker was woken. `now`: the coarse clock's time.
  static func noteAwake(_ thread: ThreadContext, at now: UInt64 = Clock.coarseNanoseconds()) {
    guard let writer = writer(of: thread) else { return }
    noteActivity(.running, of: thread, writer, at: now)
  }

  private static func noteActivity(
    _ activity: BoardActivity, of thread: ThreadContext, _ writer: Writer,
    at now: UInt64 = Clock.coarseNanoseconds()
  ) {
    writer.pointee.record.write(&writer.pointee.turn) { record in
      record.set(BoardLayout.Thread.activity, self.activity(activity, of: thread))
      record.set(BoardLayout.Thread.since, now)
      record.set(BoardLayout.Thread.queues, UInt64(writer.pointee.place) << 32)
    }
  }

  /// Notes that a thread ends, and gives its record back.
  static func noteEnd(of thread: ThreadContext) {
    endEvents(of: thread)
    guard let raw = thread.pointee.board else { return }
    let writer = raw.assumingMemoryBound(to: BoardWriter.self)
    thread.pointee.board = nil
    gc_items_hide(thread)
    writer.pointee.record.write(&writer.pointee.turn) { record in
      record.set(BoardLayout.Thread.identity, 0)
      record.set(BoardLayout.Thread.activity, 0)
    }
    shared.give(writer)
  }

  // MARK: Queues

  /// Notes that the thread begins an activation of a queue. Returns the outer queue's record.
  @inline(__always)
  static func noteActivation(of place: UInt32, on thread: ThreadContext) -> UInt32 {
    guard let writer = writer(of: thread) else { return 0 }
    let outer = writer.pointee.place
    show(place, since: Clock.coarseNanoseconds(), writer)
    return outer
  }

  /// Notes that the thread is in the outer queue again. In no queue, the record stays: what the
  /// worker does next replaces it.
  @inline(__always)
  static func noteReturn(to outer: UInt32, on thread: ThreadContext) {
    guard outer != 0, let raw = thread.pointee.board else { return }
    let writer = raw.assumingMemoryBound(to: BoardWriter.self)
    // Since when is not known any more.
    show(outer, since: 0, writer)
  }

  /// Notes that the thread runs an item of a queue that threads share. Items of the same queue
  /// follow each other without a write.
  @inline(__always)
  static func noteItem(of place: UInt32, on thread: ThreadContext) {
    guard let raw = thread.pointee.board else { return }
    let writer = raw.assumingMemoryBound(to: BoardWriter.self)
    if writer.pointee.place != place { show(place, since: Clock.coarseNanoseconds(), writer) }
  }

  /// Notes that the thread runs an item of a global queue.
  @inline(__always)
  static func noteNoQueue(on thread: ThreadContext) {
    guard let raw = thread.pointee.board else { return }
    let writer = raw.assumingMemoryBound(to: BoardWriter.self)
    if writer.pointee.place != 0 { show(0, since: Clock.coarseNanoseconds(), writer) }
  }

  @inline(__always)
  private static func show(_ place: UInt32, since: UInt64, _ writer: Writer) {
    writer.pointee.place = place
    writer.pointee.record.write(&writer.pointee.turn) { record in
      record.set(BoardLayout.Thread.queues, UInt64(place) << 32)
      record.set(BoardLayout.Thread.queueSince, since)
      record.set(BoardLayout.Thread.items, 0)
    }
  }
}
