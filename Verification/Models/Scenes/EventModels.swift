// Room: Models/Events. A chunk of events: a thread appends, another recycles it, and another
// process reads.

extension Catalogue {
  static var events: [EngineModel] {
    [
      EngineModel("events: a chunk is read while it grows", Events.readWhileItGrows),
      EngineModel("events: a chunk is recycled while it is read", Events.recycled),
    ]
  }

  static var eventMutants: [Mutant] {
    let grows = "events: a chunk is read while it grows"
    let recycled = "events: a chunk is recycled while it is read"
    let file = "EventChunk.swift"
    return [
      Mutant(
        "a chunk changes hands without an odd turn", in: file,
        at: "header[EventLayout.Chunk.turn].store(turn &- 1, ordering: .relaxed)", .skips,
        foundBy: recycled),
      Mutant(
        "a recycled chunk keeps its count", in: file,
        at: "header[EventLayout.Chunk.used].store(0, ordering: .relaxed)", .skips,
        foundBy: recycled),
      Mutant(
        "the owner comes before the odd turn", in: file,
        at: "header[EventLayout.Chunk.owner].store(UInt64(owner), ordering: .releasing)",
        .dropsRelease, foundBy: recycled, isWeak: true),
      Mutant(
        "the even turn comes before the count", in: file,
        at: "header[EventLayout.Chunk.turn].store(turn, ordering: .releasing)", .dropsRelease,
        foundBy: recycled, isWeak: true),
      Mutant(
        "an event comes before the odd turn", in: file,
        at: "words[index].store(word, ordering: .releasing)", .dropsRelease, foundBy: recycled,
        isWeak: true),
      Mutant(
        "the count comes before the event", in: file,
        at: "store(UInt64(truncatingIfNeeded: used), ordering: .releasing)", .dropsRelease,
        foundBy: grows, isWeak: true),
      Mutant(
        "a reader reads the count of an earlier turn", in: file,
        at: "let turn = header[EventLayout.Chunk.turn].load(ordering: .acquiring)", .dropsAcquire,
        foundBy: recycled, isWeak: true),
      Mutant(
        "a reader reads events before they are counted", in: file,
        at: "let used = Int(header[EventLayout.Chunk.used].load(ordering: .acquiring))",
        .dropsAcquire, foundBy: grows, isWeak: true),
      Mutant(
        "a reader looks at the turn before the events", in: file,
        at: "words[$0].load(ordering: .acquiring)", .dropsAcquire, foundBy: recycled,
        isWeak: true),
      Mutant(
        "a reader looks at the turn before the owner", in: file,
        at: "let owner = header[EventLayout.Chunk.owner].load(ordering: .acquiring)",
        .dropsAcquire, foundBy: recycled, isWeak: true),
    ]
  }
}

private enum Events {
  /// A chunk whose owner writes its own number into each word.
  private final class Place: @unchecked Sendable {
    let chunk: EventChunk
    private static var words: Int { 8 + EventLayout.chunkWords }

    init() {
      let words = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: Self.words)
      for index in 0..<Self.words { (words + index).initialize(to: Atomic(0)) }
      chunk = EventChunk(header: words, words: words + 8)
    }

    deinit {
      chunk.header.deinitialize(count: Self.words)
      chunk.header.deallocate()
    }

    func begin(_ owner: UInt32) {
      chunk.recycle(turn: UInt64(owner) * 2, owner: owner, base: 0, previous: 0)
    }

    func append(_ owner: UInt32, at index: Int) {
      chunk.put(UInt64(owner), at: index)
      chunk.publish(index + 1)
    }

    func check() {
      guard let (owner, words) = chunk.read() else { return }
      Checker.expect(
        words.allSatisfy { $0 == owner }, "a torn chunk was read: \(words) of \(owner)")
    }
  }

  static func readWhileItGrows(_ scene: Scene) {
    let place = Place()
    place.begin(1)
    scene.thread("owner") {
      for index in 0..<EventLayout.chunkWords { place.append(1, at: index) }
    }
    scene.thread("reader") { place.check() }
  }

  static func recycled(_ scene: Scene) {
    let place = Place()
    place.begin(1)
    place.append(1, at: 0)
    scene.thread("next owner") {
      place.begin(2)
      place.append(2, at: 0)
    }
    scene.thread("reader") { place.check() }
  }
}
