// The litmus tests by their usual names: Jade Alglave, Luc Maranget, Michael Tautschnig, "Herding
// Cats" (2014).
import ModelChecker

private let bit = [0, 1]

private let stores: [(String, AtomicStoreOrdering)] = [
  ("relaxed", .relaxed), ("releasing", .releasing), ("SC", .sequentiallyConsistent),
]
private let loads: [(String, AtomicLoadOrdering)] = [
  ("relaxed", .relaxed), ("acquiring", .acquiring), ("SC", .sequentiallyConsistent),
]

extension Litmus {
  static var table: [Litmus] {
    storeBuffering + messagePassing + coherence + independentReads + chains + writes + exchanges
      + releaseSequences
  }

  static var storeBuffering: [Litmus] {
    stores.flatMap { store in
      loads.map { load in
        let isForbidden = store.0 == "SC" && load.0 == "SC"
        return Litmus(
          "SB, \(store.0) and \(load.0)", domains: [bit, bit], strong: [[0, 0]],
          weak: isForbidden ? [[0, 0]] : [],
          {
            $0.x.store(1, ordering: store.1)
            $0.registers[0] = $0.y.load(ordering: load.1)
          },
          {
            $0.y.store(1, ordering: store.1)
            $0.registers[1] = $0.x.load(ordering: load.1)
          })
      }
    }
  }

  static var messagePassing: [Litmus] {
    stores.flatMap { store in
      loads.map { load in
        let isOrdered = store.0 != "relaxed" && load.0 != "relaxed"
        return Litmus(
          "MP, \(store.0) and \(load.0)", domains: [bit, bit], strong: [[1, 0]],
          weak: isOrdered ? [[1, 0]] : [],
          {
            $0.x.store(1, ordering: .relaxed)
            $0.y.store(1, ordering: store.1)
          },
          {
            $0.registers[0] = $0.y.load(ordering: load.1)
            $0.registers[1] = $0.x.load(ordering: .relaxed)
          })
      }
    }
  }

  static var coherence: [Litmus] {
    [
      Litmus(
        "CoRR", domains: [bit, bit], strong: [[1, 0]], weak: [[1, 0]],
        { $0.x.store(1, ordering: .relaxed) },
        {
          $0.registers[0] = $0.x.load(ordering: .relaxed)
          $0.registers[1] = $0.x.load(ordering: .relaxed)
        }),
      Litmus(
        "CoWW", domains: [[0, 1, 2], [2], [0]], strong: [], weak: [], showsLast: true,
        {
          $0.x.store(1, ordering: .relaxed)
          $0.x.store(2, ordering: .relaxed)
        },
        { $0.registers[0] = $0.x.load(ordering: .relaxed) }),
      // A thread reads its own store or a later one. If it reads the other's, that one is last.
      Litmus(
        "CoWR", domains: [[1, 2], [1, 2], [0]], strong: [[2, 1, 0]], weak: [[2, 1, 0]],
        showsLast: true,
        {
          $0.x.store(1, ordering: .relaxed)
          $0.registers[0] = $0.x.load(ordering: .relaxed)
        },
        { $0.x.store(2, ordering: .relaxed) }),
      // A thread that has read a store writes after it.
      Litmus(
        "CoRW", domains: [[0, 2], [1, 2], [0]], strong: [[2, 2, 0]], weak: [[2, 2, 0]],
        showsLast: true,
        {
          $0.registers[0] = $0.x.load(ordering: .relaxed)
          $0.x.store(1, ordering: .relaxed)
        },
        { $0.x.store(2, ordering: .relaxed) }),
    ]
  }

  private static func independentReads(
    _ name: String, _ store: AtomicStoreOrdering, _ load: AtomicLoadOrdering,
    weak: Set<[Int]>
  ) -> Litmus {
    Litmus(
      "IRIW, \(name)", domains: [bit, bit, bit, bit], strong: [[1, 0, 1, 0]], weak: weak,
      { $0.x.store(1, ordering: store) },
      { $0.y.store(1, ordering: store) },
      {
        $0.registers[0] = $0.x.load(ordering: load)
        $0.registers[1] = $0.y.load(ordering: load)
      },
      {
        $0.registers[2] = $0.y.load(ordering: load)
        $0.registers[3] = $0.x.load(ordering: load)
      })
  }

  static var independentReads: [Litmus] {
    [
      independentReads(
        "SC", .sequentiallyConsistent, .sequentiallyConsistent, weak: [[1, 0, 1, 0]]),
      independentReads("releasing and acquiring", .releasing, .acquiring, weak: []),
      independentReads("relaxed", .relaxed, .relaxed, weak: []),
      // C++20 forbids this outcome, C++11 does not. The checker allows it: a sequentially
      // consistent load is ordered with sequentially consistent stores only.
      independentReads("relaxed and SC", .relaxed, .sequentiallyConsistent, weak: []),
    ]
  }

  static var chains: [Litmus] {
    [(true, "releasing and acquiring"), (false, "relaxed")].flatMap { isOrdered, name in
      let store: AtomicStoreOrdering = isOrdered ? .releasing : .relaxed
      let load: AtomicLoadOrdering = isOrdered ? .acquiring : .relaxed
      return [
        Litmus(
          "WRC, \(name)", domains: [bit, bit, bit], strong: [[1, 1, 0]],
          weak: isOrdered ? [[1, 1, 0]] : [],
          { $0.x.store(1, ordering: store) },
          {
            $0.registers[0] = $0.x.load(ordering: load)
            $0.y.store(1, ordering: store)
          },
          {
            $0.registers[1] = $0.y.load(ordering: load)
            $0.registers[2] = $0.x.load(ordering: .relaxed)
          }),
        Litmus(
          "ISA2, \(name)", domains: [bit, bit, bit], strong: [[1, 1, 0]],
          weak: isOrdered ? [[1, 1, 0]] : [],
          {
            $0.x.store(1, ordering: .relaxed)
            $0.y.store(1, ordering: store)
          },
          {
            $0.registers[0] = $0.y.load(ordering: load)
            $0.z.store(1, ordering: store)
          },
          {
            $0.registers[1] = $0.z.load(ordering: load)
            $0.registers[2] = $0.x.load(ordering: .relaxed)
          }),
      ]
    }
  }
}
