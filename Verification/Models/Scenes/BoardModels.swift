// Room: Models/Boards. A record of the board: a thread writes it, and another process reads it.
// Invariant: a record that a reader accepts is whole, of one turn. The watch sees each change of
// the board before it sleeps without a limit.
// Protocol: BlackBox/BoardRecord (turn, data, turn) and BlackBox/WatchSignal.

extension Catalogue {
  static var boards: [EngineModel] {
    [
      EngineModel("board: a record is read while it is written", Boards.readWhileWritten),
      EngineModel("board: a record changes hands while it is read", Boards.changesHands),
      EngineModel("board: the watch sees each change before it sleeps", Boards.watch),
      EngineModel("board: the watch sees the record of a change", Boards.watchOne),
    ]
  }

  static var boardMutants: [Mutant] {
    let model = "board: a record is read while it is written"
    let file = "BoardRecord.swift"
    return [
      Mutant(
        "a writer does not say that it writes", in: file,
        at: "words[0].store(turn &+ 1, ordering: .relaxed)", .skips, foundBy: model),
      Mutant(
        "a data word comes before the odd turn", in: file,
        at: "words[index].store(value, ordering: .releasing)", .dropsRelease, foundBy: model,
        isWeak: true),
      Mutant(
        "the even turn comes before the data", in: file,
        at: "words[0].store(turn, ordering: .releasing)", .dropsRelease, foundBy: model,
        isWeak: true),
      Mutant(
        "a reader reads data of an earlier turn", in: file,
        at: "let turn = words[0].load(ordering: .acquiring)", .dropsAcquire, foundBy: model,
        isWeak: true),
      Mutant(
        "a reader looks at the turn too early", in: file,
        at: "words[$0].load(ordering: .acquiring)", .dropsAcquire, foundBy: model, isWeak: true),
    ] + watchMutants
  }
}

extension Catalogue {
  private static var watchMutants: [Mutant] {
    let model = "board: the watch sees each change before it sleeps"
    // Small enough for every schedule of weak memory.
    let small = "board: the watch sees the record of a change"
    let file = "WatchSignal.swift"
    return [
      Mutant(
        "a change does not wake the watch", in: file,
        at: "if seen == Self.asleep { futexWake(word) }", .skips, foundBy: model),
      Mutant(
        "the watch keeps the change of an earlier look", in: file,
        at: "_ = word.exchange(Self.looking, ordering: .acquiring)", .skips, foundBy: model),
      Mutant(
        "the record comes after the note of its change", in: file,
        at: "let (won, now) = word.weakCompareExchange(", .dropsRelease,
        foundBy: small, isWeak: true),
      Mutant(
        "a look does not see the record of a change", in: file,
        at: "_ = word.exchange(Self.looking, ordering: .acquiring)", .dropsAcquire, foundBy: small,
        isWeak: true),
    ]
  }
}

private enum Boards {
  /// A record with two data words, which are always written equal.
  private final class Place: @unchecked Sendable {
    let record: BoardRecord

    init() {
      let words = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: 3)
      for index in 0..<3 { (words + index).initialize(to: Atomic(0)) }
      record = BoardRecord(words: words)
    }

    deinit {
      record.words.deinitialize(count: 3)
      record.words.deallocate()
    }

    func write(_ value: UInt64, _ turn: inout UInt64) {
      record.write(&turn) {
        $0.set(1, value)
        $0.set(2, value)
      }
    }

    func check() {
      guard let data = record.read(2) else { return }
      Checker.expect(data[0] == data[1], "a torn record was read: \(data)")
    }
  }

  static func readWhileWritten(_ scene: Scene) {
    let place = Place()
    scene.thread("writer") {
      var turn: UInt64 = 0
      place.write(1, &turn)
      place.write(2, &turn)
    }
    scene.thread("reader") { place.check() }
  }

  /// The second owner continues the turns of the first.
  static func changesHands(_ scene: Scene) {
    let place = Place()
    let lock = Lock()
    let turn = Plain()
    for value in 1...2 {
      scene.thread("writer \(value)") {
        lock.withLock {
          var last = UInt64(turn.value)
          place.write(UInt64(value), &last)
          turn.value = Int(last)
        }
      }
    }
    scene.thread("reader") { place.check() }
  }

  /// One thread changes the board once. The watch sleeps without a limit until it has seen that.
  static func watchOne(_ scene: Scene) {
    final class Board: Sendable {
      let signal = WatchSignal()
      let record = Atomic<UInt32>(0)
    }
    let board = Board()
    board.signal.beginLook()
    scene.thread("changer") {
      // relaxed: the note orders it.
      board.record.store(1, ordering: .relaxed)
      board.signal.noteChange()
    }
    scene.thread("watch") {
      while true {
        board.signal.beginLook()
        if board.record.load(ordering: .relaxed) == 1 { return }
        _ = board.signal.sleep(until: nil)
      }
    }
  }

  /// Two threads change the board, each once. The watch sleeps without a limit until it has seen
  /// both changes: a change that it missed leaves it asleep.
  static func watch(_ scene: Scene) {
    final class Board: Sendable {
      let signal = WatchSignal()
      let first = Atomic<UInt32>(0)
      let second = Atomic<UInt32>(0)
    }
    let board = Board()
    // The watch is there before the changes, as an observer's thread is.
    board.signal.beginLook()
    scene.thread("first") {
      // relaxed: the note orders it.
      board.first.store(1, ordering: .relaxed)
      board.signal.noteChange()
    }
    scene.thread("second") {
      board.second.store(1, ordering: .relaxed)
      board.signal.noteChange()
    }
    scene.thread("watch") {
      while true {
        board.signal.beginLook()
        let seen = board.first.load(ordering: .relaxed) + board.second.load(ordering: .relaxed)
        if seen == 2 { return }
        _ = board.signal.sleep(until: nil)
      }
    }
  }
}
