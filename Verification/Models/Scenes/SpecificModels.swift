// Room: Models/Specifics. Values on queues: the first value of a queue makes its table.
// Invariant: both of two first values are found; a reader finds a whole value of the key or
// none; each value is freed once.
// Protocol: one exchange installs the table (Queues/Specifics); the table's lock guards its
// entries.

extension Catalogue {
  static var specifics: [EngineModel] {
    [
      EngineModel("specifics: two threads set the first value", Specifics.setFirst),
      EngineModel("specifics: one thread sets, one gets", Specifics.setAndGet),
      EngineModel("specifics: one thread replaces, one gets", Specifics.replace),
      EngineModel("specifics: two threads replace, one gets", Specifics.replaceTwice),
    ]
  }

  static var specificMutants: [Mutant] {
    [
      Mutant(
        "a table is installed without a comparison", in: "Specifics.swift",
        at: "specifics.compareExchange(", .isBlind,
        foundBy: "specifics: two threads set the first value"),
      Mutant(
        "a table is published before it is initialised", in: "Specifics.swift",
        at: "specifics.compareExchange(", .dropsRelease,
        foundBy: "specifics: one thread sets, one gets"),
      Mutant(
        "the losing thread does not acquire the table", in: "Specifics.swift",
        at: "specifics.compareExchange(", .dropsAcquire,
        foundBy: "specifics: two threads set the first value"),
      Mutant(
        "a thread that sets a value does not acquire the table", in: "Specifics.swift",
        at: "specifics.load(ordering: .acquiring)", after: "final func specificTable(",
        .dropsAcquire, foundBy: "specifics: two threads set the first value"),
      Mutant(
        "a reader does not acquire the table", in: "Specifics.swift",
        at: "specifics.load(ordering: .acquiring)", after: "final func findSpecific(",
        .dropsAcquire, foundBy: "specifics: one thread sets, one gets"),
    ]
  }
}

private enum Specifics {
  /// A value that must be freed at the end. Each thread that gets it must see its contents.
  private final class Value {
    @Cell var number: Int
    private let counted = Counted()
    init(_ number: Int) { self.number = number }
  }

  static func setFirst(_ scene: Scene) {
    let queue = KeepingRoot()
    let keys = (DispatchSpecificKey<Value>(), DispatchSpecificKey<Value>())
    scene.thread { queue.setSpecific(key: keys.0, value: Value(1)) }
    scene.thread { queue.setSpecific(key: keys.1, value: Value(2)) }
    scene.finally {
      Checker.expect(queue.getSpecific(key: keys.0)?.number == 1, "the first value is missing")
      Checker.expect(queue.getSpecific(key: keys.1)?.number == 2, "the second value is missing")
    }
  }

  static func setAndGet(_ scene: Scene) {
    let queue = KeepingRoot()
    scene.keep(queue)
    let key = DispatchSpecificKey<Value>()
    scene.thread("setter") { queue.setSpecific(key: key, value: Value(1)) }
    scene.thread("getter") {
      let found = queue.getSpecific(key: key)
      Checker.expect(found.map { $0.number == 1 } ?? true, "half a value was found")
    }
  }

  static func replace(_ scene: Scene) {
    let queue = KeepingRoot()
    scene.keep(queue)
    let key = DispatchSpecificKey<Value>()
    queue.setSpecific(key: key, value: Value(1))
    scene.thread("setter") {
      queue.setSpecific(key: key, value: Value(2))
      queue.setSpecific(key: key, value: nil)
    }
    scene.thread("getter") {
      let found = queue.getSpecific(key: key)
      Checker.expect(found.map { [1, 2].contains($0.number) } ?? true, "half a value was found")
    }
  }

  static func replaceTwice(_ scene: Scene) {
    let queue = KeepingRoot()
    scene.keep(queue)
    let key = DispatchSpecificKey<Value>()
    queue.setSpecific(key: key, value: Value(1))
    for number in [2, 3] {
      scene.thread("setter") { queue.setSpecific(key: key, value: Value(number)) }
    }
    scene.thread("getter") {
      let found = queue.getSpecific(key: key)?.number ?? 0
      Checker.expect((1...3).contains(found), "half a value was found")
    }
  }
}
