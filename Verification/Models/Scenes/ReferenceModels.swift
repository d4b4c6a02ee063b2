// Room: Models/References. References of C programs to an object: dropping the last one ends the
// object, once, after all uses of it.

extension Catalogue {
  static var references: [EngineModel] {
    [
      EngineModel("references: two references are released", References.dropTwo),
      EngineModel("references: a retain races with the last release", References.addBesideLast),
    ]
  }

  static var referenceMutants: [Mutant] {
    [
      Mutant(
        "two releases see each other's reference", in: "ClientReferences.swift",
        at: "clientReferences.wrappingSubtract(", .splits,
        foundBy: "references: two references are released"),
      Mutant(
        "an object is destroyed before its last use", in: "ClientReferences.swift",
        at: "clientReferences.wrappingSubtract(", .dropsRelease,
        foundBy: "references: two references are released"),
      Mutant(
        "the destroying thread does not acquire earlier uses", in: "ClientReferences.swift",
        at: "clientReferences.wrappingSubtract(", .dropsAcquire,
        foundBy: "references: two references are released"),
      Mutant(
        "the first reference is counted as an additional one", in: "ClientReferences.swift",
        at: "clientReferences.wrappingAdd(1, ordering: .relaxed).oldValue", .splits,
        foundBy: "references: a retain races with the last release"),
    ]
  }
}

private enum References {
  /// The end of the object, outside the modelled memory, so that a check need not touch the object.
  private final class Fate {
    var isOver = false
  }

  private final class Held: DispatchObject {
    let uses = [Plain(), Plain()]
    let fate: Fate
    private let counted = Counted()

    init(_ fate: Fate) {
      self.fate = fate
    }

    deinit {
      fate.isOver = true
      Checker.expect(uses.reduce(0) { $0 + $1.value } == uses.count, "a use is missing")
    }
  }

  /// A reference as a C program holds it, without Swift's reference count.
  private struct Handle: @unchecked Sendable {
    let object: Unmanaged<Held>
    let fate: Fate

    init(_ held: Held) {
      fate = held.fate
      _ = DispatchObject.heldByClient(held)
      object = .passUnretained(held)
    }

    func add() {
      object._withUnsafeGuaranteedRef { held in
        held.addClientReference(first: { held.holdFirst() })
      }
    }

    func use(_ number: Int) {
      Checker.expect(!fate.isOver, "an object is destroyed while a reference is used")
      object._withUnsafeGuaranteedRef { $0.uses[number].value = 1 }
    }

    func drop() {
      object._withUnsafeGuaranteedRef { held in
        held.dropClientReference(last: {
          Checker.expect(held.dropLast(of: $0), "a reference was not counted")
        })
      }
    }
  }

  static func dropTwo(_ scene: Scene) {
    let handle = Handle(Held(Fate()))
    handle.add()
    for number in 0..<2 {
      scene.thread {
        handle.use(number)
        handle.drop()
      }
    }
    scene.finally { Checker.expect(handle.fate.isOver, "the object outlives its last reference") }
  }

  /// The adding thread reaches the object through a holder that keeps it, as an item its queue.
  static func addBesideLast(_ scene: Scene) {
    let held = Unmanaged.passRetained(Held(Fate()))
    let handle = held._withUnsafeGuaranteedRef { Handle($0) }
    scene.thread("drops") {
      handle.use(0)
      handle.drop()
    }
    scene.thread("adds") {
      handle.add()
      held.release()
      handle.use(1)
      handle.drop()
    }
    scene.finally { Checker.expect(handle.fate.isOver, "the object outlives its last reference") }
  }
}
