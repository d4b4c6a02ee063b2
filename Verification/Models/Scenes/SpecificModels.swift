// Room: Models/Specifics. Values on queues: the first value of a queue makes its table.

extension Catalogue {
  static var specifics: [EngineModel] {
    [
      EngineModel("specifics: two set the first value", Specifics.setFirst),
      EngineModel("specifics: one sets, one gets", Specifics.setAndGet),
      EngineModel("specifics: one replaces, one gets", Specifics.replace),
      EngineModel("specifics: two replace, one gets", Specifics.replaceTwice),
    ]
  }

  static var specificMutants: [Mutant] {
    [
      Mutant(
        "a table is put there without a comparison", in: "Specifics.swift",
        at: "specifics.compareExchange(", .isBlind, foundBy: "specifics: two set the first value"),
      Mutant(
        "a table is seen before it is made", in: "Specifics.swift",
        at: "specifics.compareExchange(", .dropsRelease, foundBy: "specifics: one sets, one gets"),
      Mutant(
        "whoever comes second sees a table before it is made", in: "Specifics.swift",
        at: "specifics.compareExchange(", .dropsAcquire,
        foundBy: "specifics: two set the first value"),
      Mutant(
        "whoever looks sees a table before it is made", in: "Specifics.swift",
        at: "specifics.load(ordering: .acquiring)", after: "final func findSpecific(",
        .dropsAcquire, foundBy: "specifics: one sets, one gets"),
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
