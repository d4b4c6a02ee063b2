// Room: Models/Workplaces. A queue dies while somebody reads its label.

/// A queue, as far as it is a workplace. Its memory is written when it dies: a race for whoever reads it then.
private final class Desk: Workplace {
  private let label = Atomic<Int>(7)
  init() { Checker.count(made: 1) }
  deinit {
    Workplaces.willDie()
    willWrite(UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()))
    Checker.count(made: -1)
  }
  var workplaceLabel: String { label.load(ordering: .relaxed) == 7 ? "desk" : "nothing" }
}

extension Catalogue {
  static var workplaces: [EngineModel] {
    [
      EngineModel("workplace: a queue that dies is not read") { scene in
        scene.thread("drainer") {
          let desk = Unmanaged.passRetained(Desk())
          currentThread().setWorkplace(UInt(bitPattern: desk.toOpaque()))
          currentThread().setWorkplace(0)
          desk.release()
        }
        scene.thread("reader") {
          let label = Workplaces.label(of: ModelThreads.context(1))
          Checker.expect(label == nil || label == "desk", "a label of nothing")
        }
      },
      EngineModel("workplace: two read what dies") { scene in
        scene.thread("drainer") {
          let desk = Unmanaged.passRetained(Desk())
          currentThread().setWorkplace(UInt(bitPattern: desk.toOpaque()))
          currentThread().setWorkplace(0)
          desk.release()
        }
        for name in ["reader", "second reader"] {
          scene.thread(name) {
            let label = Workplaces.label(of: ModelThreads.context(1))
            Checker.expect(label == nil || label == "desk", "a label of nothing")
          }
        }
      },
    ]
  }

  static var workplaceMutants: [Mutant] {
    let dies = "workplace: a queue that dies is not read"
    return [
      Mutant(
        "a reader does not say that it reads", in: "Workplaces.swift",
        at: "reader.store(UInt(bitPattern: currentThread())", .skips, foundBy: dies),
      Mutant(
        "a death does not look for readers", in: "Workplaces.swift",
        at: "let reading = reader.load", .returns(0), foundBy: dies),
      Mutant(
        "a reader says so out of order", in: "Workplaces.swift",
        at: "reader.store(UInt(bitPattern: currentThread())", .dropsSequential, foundBy: dies,
        isWeak: true),
      Mutant(
        "a death looks for readers out of order", in: "Workplaces.swift",
        at: "let reading = reader.load", .dropsSequential, foundBy: dies, isWeak: true),
    ]
  }
}
