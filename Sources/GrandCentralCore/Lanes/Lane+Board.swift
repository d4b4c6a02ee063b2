// Room: Lanes/Lane+Board. What can be seen of a lane from outside: its record on the board
// (BlackBox), and its label as the name of a worker's thread.
// The number of the record is that of the lane's slot in the registry, so a record is never
// searched for, and belongs to one live lane at a time.
// `boardGeneration` is the generation of the board that has the record:
//   older ─claim→ current     the thread that wins the exchange writes the record. Another thread
//                             that refers to the record meanwhile needs no order: a reader finds it
//                             half written and tries again
//   current ─deinit→          the last thread empties the record, before the slot is given back
// A lane gets its record when it is first drained, waited for, held by a thread that waits, or when
// it is suspended. A lane that is only entered by an idle sync() never has one. The words for the
// target and the suspension are written singly, and the last one wins.
import CGrandCentralLinux

extension Lane {
  /// The number of the lane's record, which is written at the first call; 0: it has none.
  @inline(__always)
  final var shownPlace: UInt32 {
    // relaxed: the claim decides.
    let generation = boardGeneration.load(ordering: .relaxed)
    return generation == BlackBox.generation ? registeredSlot : claimedPlace(from: generation)
  }

  @inline(never)
  private final func claimedPlace(from generation: UInt32) -> UInt32 {
    guard let record = BlackBox.queueRecord(registeredSlot) else { return 0 }
    // relaxed: readers are in other processes, and follow the record's own protocol.
    let (won, _) = boardGeneration.compareExchange(
      expected: generation, desired: BlackBox.generation, ordering: .relaxed)
    if won {
      BlackBox.shared.noteUsed(registeredSlot)
      write(record)
      if gc_records_events() {
        BlackBox.recordQueue(registeredSlot, kind: kindOnBoard.rawValue, label: laneLabel)
      }
    }
    return registeredSlot
  }

  private final func write(_ record: BoardRecord) {
    var label = laneLabel
    let kind =
      UInt64(kindOnBoard.rawValue) | UInt64(width.load(ordering: .relaxed)) << 8
      | UInt64(ownQoS.band.rawValue) << 24
    let isSuspended = state.load(ordering: .relaxed).isSuspended
    let since = isSuspended ? Clock.coarseNanoseconds() : 0
    var turn = nextTurn()
    record.write(&turn) { record in
      record.set(BoardLayout.Queue.address, UInt64(UInt(bitPattern: address)))
      record.set(BoardLayout.Queue.kind, kind)
      record.set(BoardLayout.Queue.target, 0)
      record.set(BoardLayout.Queue.suspendedSince, since)
      record.set(BoardLayout.Queue.queuedSuspended, 0)
      label.withUTF8 { bytes in
        record.set(BoardLayout.Queue.labelBytes, UInt64(bytes.count))
        var rest = bytes.prefix(BoardLayout.Queue.maxLabelBytes)
        var index = BoardLayout.Queue.label
        while !rest.isEmpty {
          var word: UInt64 = 0
          withUnsafeMutableBytes(of: &word) { $0.copyBytes(from: rest.prefix(8)) }
          record.set(index, word)
          rest = rest.dropFirst(8)
          index += 1
        }
      }
    }
    // The caller may not hold the lane, so its target may change meanwhile.
    if self.kind != .root, self.kind != .bound, let target = targetNow { noteTarget(target) }
  }

  /// An even turn that no record had before.
  private final func nextTurn() -> UInt64 {
    BlackBox.shared.queueTurns.wrappingAdd(2, ordering: .relaxed).oldValue
  }

  /// The record, if it has been written.
  @inline(__always)
  private final var writtenRecord: BoardRecord? {
    boardGeneration.load(ordering: .relaxed) == BlackBox.generation
      ? BlackBox.queueRecord(registeredSlot) : nil
  }

  /// Whether the lane has had a record.
  @inline(__always)
  final var isOnBoard: Bool { boardGeneration.load(ordering: .relaxed) != 0 }

  /// Empties the record of a lane that ends.
  @inline(__always)
  final func leaveBoard() {
    if isOnBoard { emptyRecord() }
  }

  @inline(never)
  private final func emptyRecord() {
    guard let record = writtenRecord else { return }
    var turn = nextTurn()
    record.write(&turn) { record in
      record.set(BoardLayout.Queue.address, 0)
      record.set(BoardLayout.Queue.suspendedSince, 0)
    }
  }

  /// Notes the lane's target, which the caller keeps alive.
  final func noteTarget(_ target: Lane) {
    guard let record = writtenRecord else { return }
    record.set(BoardLayout.Queue.target, UInt64(target.shownPlace))
  }

  // MARK: A main queue without a drainer

  /// Notes that work came to a main queue that no thread drains yet. Any thread.
  @inline(never)
  final func noteUndrained() {
    // Not under a lock, which the making of a board does not permit.
    if currentThread().pointee.locks == 0 { BlackBox.open() }
    showUndrained(since: Clock.coarseNanoseconds())
  }

  /// Takes the note back. The caller has seen what the thread did that wrote it.
  @inline(never)
  final func noteDrained() { showUndrained(since: 0) }

  private final func showUndrained(since: UInt64) {
    guard BlackBox.mayHaveBoard, let record = BlackBox.queueRecord(shownPlace) else { return }
    // relaxed: a single word that is only shown.
    record.words[BoardLayout.Queue.undrainedSince].store(since, ordering: .relaxed)
  }

  // MARK: Suspension

  /// Notes that the lane is about to be suspended.
  @inline(__always)
  final func noteSuspended() {
    if BlackBox.mayHaveBoard { showSuspended() }
  }

  @inline(never)
  private final func showSuspended() {
    guard let record = BlackBox.queueRecord(shownPlace) else { return }
    // relaxed, here and below: single words that are only shown.
    if state.load(ordering: .relaxed).isSuspended { return }
    record.words[BoardLayout.Queue.queuedSuspended].store(0, ordering: .relaxed)
    record.words[BoardLayout.Queue.suspendedSince]
      .store(Clock.coarseNanoseconds(), ordering: .relaxed)
  }

  /// Notes that the lane is about to be resumed.
  @inline(__always)
  final func noteResumed() {
    if isOnBoard { showResumed() }
  }

  @inline(never)
  private final func showResumed() {
    guard let record = writtenRecord else { return }
    record.words[BoardLayout.Queue.suspendedSince].store(0, ordering: .relaxed)
  }

  /// Notes that work was submitted while the lane is suspended.
  @inline(never)
  final func noteQueuedWhileSuspended() {
    BlackBox.open()
    guard let record = BlackBox.queueRecord(shownPlace) else { return }
    // The count is shown and nothing depends on it.
    record.words[BoardLayout.Queue.queuedSuspended].wrappingAdd(1, ordering: .relaxed)
    BlackBox.wakeWatch()
  }

  /// A wait for this lane, as the board shows it.
  final func boardWait(exclusive: Bool) -> BoardWait {
    BlackBox.open()
    return BoardWait(
      .queue, address, queue: shownPlace,
      holder: ThreadContext(bitPattern: owner.load(ordering: .relaxed)),
      isBarrier: exclusive && kind == .concurrent)
  }
}

// MARK: The label as a thread's name

// Shows the label of the lane that a worker works for: see Pool/WorkerName. The check runs once per
// activation, and once per item of a concurrent queue. It compares two words; the rest runs only if
// the thread shows another label. Threads of the program keep the names that the program gave them.
extension Lane {
  /// Names the calling thread after this lane, if it is a worker's thread.
  @inline(__always)
  final func showLabel(on thread: ThreadContext) {
    guard let raw = thread.pointee.worker else { return }
    // SAFETY: the thread of a worker keeps its pool, which keeps its workers.
    Unmanaged<Worker>.fromOpaque(raw)._withUnsafeGuaranteedRef { worker in
      let identity = labelIdentity
      if identity != worker.name.shown { changeName(of: worker, to: identity, on: thread) }
    }
  }

  /// Restores the name of the outer lane, after an item that was itself a lane. The inner lane's
  /// frame is already off the thread.
  @inline(__always)
  static func showOuterLabel(on thread: ThreadContext) {
    guard thread.pointee.worker != nil, Frames(thread: thread).areNested else { return }
    Frames.innermost(thread)?._withUnsafeGuaranteedRef { $0.showLabel(on: thread) }
  }

  @inline(never)
  private final func changeName(
    of worker: Worker, to identity: LabelIdentity, on thread: ThreadContext
  ) {
    if identity == .none {
      // A lane without a label leaves the label of an enclosing lane in place.
      let shown = worker.name.shown
      if !Frames(thread: thread).contains(where: { $0.labelIdentity == shown }) {
        worker.showPlainName()
      }
    } else if worker.mayShowLabel() {
      let (text, kept) = labelAsThreadName
      worker.show(text, as: identity, kept: kept)
    } else {
      worker.showPlainName()
    }
  }
}
