// Room: Models/Boards. A record of the board: a thread writes it, and another process reads it.

extension Catalogue {
  static var boards: [EngineModel] {
    [
      EngineModel("board: a record is read while it is written", Boards.readWhileWritten),
      EngineModel("board: a record changes hands while it is read", Boards.changesHands),
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
}
