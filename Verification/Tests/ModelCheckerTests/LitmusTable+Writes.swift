// Litmus tests of the order of writes, and of exchanges.
import ModelChecker

private let bit = [0, 1]

extension Litmus {
  static var writes: [Litmus] {
    [
      // Not modelled: a load that returns the value of a later store in program order.
      Litmus(
        "LB", domains: [bit, bit], strong: [[1, 1]], weak: [[1, 1]],
        {
          $0.registers[0] = $0.y.load(ordering: .relaxed)
          $0.x.store(1, ordering: .relaxed)
        },
        {
          $0.registers[1] = $0.x.load(ordering: .relaxed)
          $0.y.store(1, ordering: .relaxed)
        }),
      // Not modelled: a store that comes before an earlier executed one in the modification order.
      Litmus(
        "2+2W", domains: [[1, 2], [1, 2]], strong: [[1, 1]], weak: [[1, 1]], showsLast: true,
        {
          $0.x.store(1, ordering: .relaxed)
          $0.y.store(2, ordering: .relaxed)
        },
        {
          $0.y.store(1, ordering: .relaxed)
          $0.x.store(2, ordering: .relaxed)
        }),
      Litmus(
        "S", domains: [bit, [1, 2], [1]], strong: [[1, 2, 1]], weak: [[1, 2, 1]], showsLast: true,
        {
          $0.x.store(2, ordering: .relaxed)
          $0.y.store(1, ordering: .relaxed)
        },
        {
          $0.registers[0] = $0.y.load(ordering: .relaxed)
          $0.x.store(1, ordering: .relaxed)
        }),
      race("relaxed", .relaxed, .relaxed, weak: []),
      race("SC", .sequentiallyConsistent, .sequentiallyConsistent, weak: [[0, 1, 2]]),
      race("SC and acquiring", .sequentiallyConsistent, .acquiring, weak: []),
      // The checker's single order is the order of execution. C++ allows the last load to return
      // the older value here, because the relaxed hand-over orders nothing.
      Litmus(
        "SC around a relaxed hand-over", domains: [bit, bit], strong: [[1, 0]], weak: [[1, 0]],
        {
          $0.y.store(1, ordering: .sequentiallyConsistent)
          $0.x.store(1, ordering: .relaxed)
        },
        {
          $0.registers[0] = $0.x.load(ordering: .relaxed)
          $0.registers[1] = $0.y.load(ordering: .sequentiallyConsistent)
        }),
      Litmus(
        "SC loads after relaxed stores", domains: [bit, bit], strong: [[0, 0]], weak: [],
        {
          $0.x.store(1, ordering: .relaxed)
          $0.registers[0] = $0.y.load(ordering: .sequentiallyConsistent)
        },
        {
          $0.y.store(1, ordering: .relaxed)
          $0.registers[1] = $0.x.load(ordering: .sequentiallyConsistent)
        }),
    ]
  }

  private static func race(
    _ name: String, _ store: AtomicStoreOrdering, _ load: AtomicLoadOrdering, weak: Set<[Int]>
  ) -> Litmus {
    Litmus(
      "R, \(name)", domains: [bit, [1], [1, 2]], strong: [[0, 1, 2]], weak: weak, showsLast: true,
      {
        $0.x.store(1, ordering: store)
        $0.y.store(1, ordering: store)
      },
      {
        $0.y.store(2, ordering: store)
        $0.registers[0] = $0.x.load(ordering: load)
      })
  }

  static var exchanges: [Litmus] {
    [
      dekker("SC", .sequentiallyConsistent, .sequentiallyConsistent, weak: [[0, 0]]),
      dekker("weaker", .acquiringAndReleasing, .acquiring, weak: []),
      Litmus(
        "two additions", domains: [bit, bit], strong: [[0, 0], [1, 1]], weak: [[0, 0], [1, 1]],
        { $0.registers[0] = $0.x.wrappingAdd(1, ordering: .relaxed).oldValue },
        { $0.registers[1] = $0.x.wrappingAdd(1, ordering: .relaxed).oldValue }),
      Litmus(
        "two exchanges of one lock", domains: [bit, bit], strong: [[0, 0], [1, 1]],
        weak: [[0, 0], [1, 1]],
        { $0.registers[0] = $0.tryLock() },
        { $0.registers[1] = $0.tryLock() }),
      failedExchange("acquiring", .acquiring, weak: [[1, 0]]),
      failedExchange("relaxed", .relaxed, weak: []),
      // A failed exchange need not read the latest value.
      Litmus(
        "a failed exchange reads an old value", domains: [bit, bit], strong: [[1, 0]], weak: [],
        {
          $0.x.store(1, ordering: .relaxed)
          $0.y.store(1, ordering: .relaxed)
        },
        {
          $0.registers[0] = $0.y.load(ordering: .relaxed)
          $0.registers[1] =
            $0.x.compareExchange(expected: 9, desired: 5, ordering: .relaxed).original
        }),
    ]
  }

  private static func dekker(
    _ name: String, _ update: AtomicUpdateOrdering, _ load: AtomicLoadOrdering, weak: Set<[Int]>
  ) -> Litmus {
    Litmus(
      "Dekker with exchanges, \(name)", domains: [bit, bit], strong: [[0, 0]], weak: weak,
      {
        _ = $0.x.exchange(1, ordering: update)
        $0.registers[0] = $0.y.load(ordering: load)
      },
      {
        _ = $0.y.exchange(1, ordering: update)
        $0.registers[1] = $0.x.load(ordering: load)
      })
  }

  private static func failedExchange(
    _ name: String, _ failure: AtomicLoadOrdering, weak: Set<[Int]>
  ) -> Litmus {
    Litmus(
      "a failed exchange, \(name)", domains: [bit, bit], strong: [[1, 0]], weak: weak,
      {
        $0.x.store(1, ordering: .relaxed)
        $0.y.store(1, ordering: .releasing)
      },
      {
        $0.registers[0] =
          $0.y.compareExchange(
            expected: 9, desired: 5, successOrdering: .acquiringAndReleasing,
            failureOrdering: failure
          ).original
        $0.registers[1] = $0.x.load(ordering: .relaxed)
      })
  }

  static var releaseSequences: [Litmus] {
    [
      // A relaxed addition continues the release sequence, so an acquiring load of 2
      // synchronizes with the releasing store.
      Litmus(
        "a release sequence through an addition", domains: [[0, 1, 2], bit],
        strong: [[2, 0]], weak: [[2, 0]],
        {
          $0.y.store(1, ordering: .relaxed)
          $0.x.store(1, ordering: .releasing)
        },
        { $0.x.wrappingAdd(1, ordering: .relaxed) },
        {
          $0.registers[0] = $0.x.load(ordering: .acquiring)
          $0.registers[1] = $0.y.load(ordering: .relaxed)
        }),
      Litmus(
        "a relaxed store ends a release sequence", domains: [[0, 1, 2], bit],
        strong: [[1, 0], [2, 0]], weak: [[1, 0]],
        {
          $0.y.store(1, ordering: .relaxed)
          $0.x.store(1, ordering: .releasing)
        },
        { if $0.x.load(ordering: .relaxed) == 1 { $0.x.store(2, ordering: .relaxed) } },
        {
          $0.registers[0] = $0.x.load(ordering: .acquiring)
          $0.registers[1] = $0.y.load(ordering: .relaxed)
        }),
    ]
  }
}

extension Bench {
  fileprivate func tryLock() -> Int {
    x.compareExchange(expected: 0, desired: 1, ordering: .acquiring).original
  }
}
