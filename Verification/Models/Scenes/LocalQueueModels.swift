// Room: Models/LocalQueues. LocalQueue: its owner puts and takes, other workers steal. Head and
// tail start two before their wrap-around.

extension Catalogue {
  /// A thief takes nodes, which must come in order, and then steals the rest.
  private static func rob(
    _ own: OwnedLocalQueue, into other: OwnedLocalQueue, _ parcels: Parcels
  ) {
    var last = -1
    while let node = own.localQueue.takeOldest()?.node {
      let number = parcels.receive(node)
      Checker.expect(number > last, "node \(number) came after node \(last)")
      last = number
    }
    if let node = own.localQueue.steal(into: other.localQueue) { parcels.receive(node) }
  }

  static var localQueues: [EngineModel] {
    [
      EngineModel("local queue: its owner puts and takes while a thief steals") { scene in
        let (own, other) = (OwnedLocalQueue(), OwnedLocalQueue())
        let parcels = Parcels(3)
        scene.thread("owner") {
          for number in 0..<2 { own.localQueue.put(parcels.send(number), band: .default) }
          if let node = own.localQueue.take() { parcels.receive(node) }
          own.localQueue.put(parcels.send(2), band: .default)
        }
        scene.thread("thief") {
          if let node = own.localQueue.steal(into: other.localQueue) { parcels.receive(node) }
          if let node = other.localQueue.take() { parcels.receive(node) }
        }
        scene.finally {
          parcels.receiveAll { own.localQueue.take() }
          parcels.expectAllArrived()
        }
      },
      EngineModel("local queue: a list is put while a thief steals") { scene in
        let (own, other) = (OwnedLocalQueue(), OwnedLocalQueue())
        let parcels = Parcels(4)
        scene.thread("owner") {
          own.localQueue.put(parcels.send(0), band: .default)
          // From the newest to the oldest.
          for number in 1..<3 { parcels.send(number + 1).next = parcels.send(number) }
          let oldest = own.localQueue.put(parcels.send(3), count: 3, band: .default)
          Checker.expect(parcels.receive(oldest) == 1, "the list's oldest node was put")
        }
        scene.thread("thief") {
          rob(own, into: other, parcels)
        }
        scene.finally {
          parcels.receiveAll { own.localQueue.take() }
          parcels.receiveAll { other.localQueue.take() }
          parcels.expectAllArrived()
        }
      },
      EngineModel("local queue: the start of a list is put while a thief steals") { scene in
        let (own, other) = (OwnedLocalQueue(), OwnedLocalQueue())
        let parcels = Parcels(4)
        scene.thread("owner") {
          own.localQueue.put(parcels.send(0), band: .default)
          // From the oldest to the newest.
          let list = (1..<4).map { parcels.send($0) }
          for number in 0..<2 { list[number].next = list[number + 1] }
          list[2].next = nil
          let rest = own.localQueue.put(list[0], first: 2, band: .default)
          Checker.expect(rest == list[2], "the rest of the list was put, too")
          parcels.receive(list[2])
        }
        scene.thread("thief") {
          rob(own, into: other, parcels)
        }
        scene.finally {
          parcels.receiveAll { own.localQueue.take() }
          parcels.receiveAll { other.localQueue.take() }
          parcels.expectAllArrived()
        }
      },
      EngineModel("local queue: a full one is refilled while a thief copies") { scene in
        let (own, other) = (OwnedLocalQueue(), OwnedLocalQueue())
        let parcels = Parcels(6)
        for number in 0..<4 { own.localQueue.put(parcels.send(number), band: .default) }
        scene.thread("owner") {
          for number in 4..<6 {
            while !own.localQueue.accepts(.default) {
              if let node = own.localQueue.take() { parcels.receive(node) }
            }
            own.localQueue.put(parcels.send(number), band: .default)
          }
        }
        scene.thread("thief") {
          if let node = own.localQueue.steal(into: other.localQueue) { parcels.receive(node) }
          parcels.receiveAll { other.localQueue.take() }
        }
        scene.finally {
          parcels.receiveAll { own.localQueue.take() }
          parcels.expectAllArrived()
        }
      },
      EngineModel("local queue: a thief publishes stolen nodes after it has stored them") {
        scene in
        // The third thread takes from the thief's queue, so what the thief copies there must be
        // complete when it becomes visible.
        let (own, other) = (OwnedLocalQueue(), OwnedLocalQueue())
        let parcels = Parcels(3)
        scene.thread("owner") {
          for number in 0..<3 { own.localQueue.put(parcels.send(number), band: .default) }
        }
        scene.thread("thief") {
          if let node = own.localQueue.steal(into: other.localQueue) { parcels.receive(node) }
        }
        scene.thread("third") {
          if let (node, band) = other.localQueue.takeOldest() {
            parcels.receive(node)
            Checker.expect(band == .default, "a stolen node changed its band")
          }
        }
        scene.finally {
          parcels.receiveAll { own.localQueue.take() }
          parcels.receiveAll { other.localQueue.take() }
          parcels.expectAllArrived()
        }
      },
      EngineModel("local queue: a thief reads the band of its nodes") { scene in
        let (own, other) = (OwnedLocalQueue(), OwnedLocalQueue())
        let parcels = Parcels(2)
        own.localQueue.put(parcels.send(0), band: .default)
        scene.thread("owner") {
          if let node = own.localQueue.take() { parcels.receive(node) }
          if own.localQueue.accepts(.userInitiated) {
            own.localQueue.put(parcels.send(1), band: .userInitiated)
          }
        }
        scene.thread("thief") {
          guard let (node, band) = own.localQueue.takeOldest() else { return }
          let number = parcels.receive(node)
          Checker.expect(
            band == (number == 0 ? .default : .userInitiated), "node \(number) is in band \(band)")
        }
        scene.finally {
          parcels.receiveAll { own.localQueue.take() }
          Checker.expect(own.localQueue.isEmpty && other.localQueue.isEmpty, "something is left")
          parcels.expectAllArrived()
        }
      },
      EngineModel("local queue: a thief takes the band over with the nodes") { scene in
        let (own, other) = (OwnedLocalQueue(), OwnedLocalQueue())
        let parcels = Parcels(4)
        for number in 0..<2 { own.localQueue.put(parcels.send(number), band: .default) }
        scene.thread("owner") {
          for _ in 0..<2 { own.localQueue.take().map { _ = parcels.receive($0) } }
          for number in 2..<4 {
            Checker.expect(
              own.localQueue.accepts(.userInitiated), "an empty local queue takes any band")
            own.localQueue.put(parcels.send(number), band: .userInitiated)
          }
        }
        scene.thread("thief") {
          guard own.localQueue.isWorthStealing(after: 1),
            let node = own.localQueue.steal(into: other.localQueue)
          else { return }
          let number = parcels.receive(node)
          Checker.expect(
            other.localQueue.band == (number < 2 ? .default : .userInitiated),
            "node \(number) is in band \(other.localQueue.band)")
        }
        scene.finally {
          parcels.receiveAll { own.localQueue.take() }
          parcels.receiveAll { other.localQueue.take() }
          parcels.expectAllArrived()
        }
      },
      EngineModel("local queue: two thieves and the owner share two nodes") { scene in
        let localQueues = (0..<3).map { _ in OwnedLocalQueue() }
        let parcels = Parcels(2)
        localQueues[0].localQueue.put(parcels.send(0), band: .default)
        scene.thread("owner") {
          localQueues[0].localQueue.put(parcels.send(1), band: .default)
          if let node = localQueues[0].localQueue.take() { parcels.receive(node) }
        }
        for number in 1...2 {
          scene.thread("thief \(number)") {
            if let node = localQueues[0].localQueue.steal(into: localQueues[number].localQueue) {
              parcels.receive(node)
            }
          }
        }
        scene.finally {
          for localQueue in localQueues { parcels.receiveAll { localQueue.localQueue.take() } }
          parcels.expectAllArrived()
        }
      },
      EngineModel("local queue: a thief that sees a new head and a stale tail terminates") {
        scene in
        let localQueues = (0..<2).map { _ in OwnedLocalQueue() }
        let parcels = Parcels(1)
        scene.thread("owner") {
          localQueues[0].localQueue.put(parcels.send(0), band: .default)
          if let node = localQueues[0].localQueue.take() { parcels.receive(node) }
        }
        scene.thread("thief") {
          if let node = localQueues[0].localQueue.steal(into: localQueues[1].localQueue) {
            parcels.receive(node)
          }
        }
        scene.thread("picker") {
          if let (node, _) = localQueues[0].localQueue.takeOldest() { parcels.receive(node) }
        }
        scene.finally { parcels.expectAllArrived() }
      },
    ]
  }

  static var localQueueMutants: [Mutant] {
    let steal = "func steal(into"
    let basic = "local queue: its owner puts and takes while a thief steals"
    return [
      Mutant(
        "a put does not release", in: "LocalQueue.swift", at: "tail.store(last &+ 1",
        .dropsRelease,
        foundBy: basic),
      Mutant(
        "the put of a list does not release", in: "LocalQueue.swift",
        at: "tail.store(last &+ UInt32(count - 1)", .dropsRelease,
        foundBy: "local queue: a list is put while a thief steals"),
      Mutant(
        "the put of a list's start does not release", in: "LocalQueue.swift",
        at: "tail.store(last &+ UInt32(count), ", .dropsRelease,
        foundBy: "local queue: the start of a list is put while a thief steals"),
      Mutant(
        "the owner takes without comparing", in: "LocalQueue.swift",
        at: "words.pointee.head.weakCompare",
        after: "func take()", .isBlind, foundBy: basic),
      Mutant(
        "a thief takes without comparing", in: "LocalQueue.swift",
        at: "words.pointee.head.weakCompare",
        after: steal, .isBlind, foundBy: basic),
      Mutant(
        "a thief's exchange is a load and a store", in: "LocalQueue.swift",
        at: "words.pointee.head.weakCompare",
        after: steal, .splits, foundBy: "local queue: two thieves and the owner share two nodes"),
      Mutant(
        "a thief loads the tail without acquiring", in: "LocalQueue.swift",
        at: "let last = words.pointee.tail.load(ordering: .acquiring)", after: steal, .dropsAcquire,
        foundBy: basic),
      Mutant(
        "the oldest is taken without acquiring", in: "LocalQueue.swift",
        at: "let last = words.pointee.tail.load(ordering: .acquiring)",
        after: "func takeOldest()", .dropsAcquire,
        foundBy: "local queue: a thief reads the band of its nodes"),
      Mutant(
        "stolen nodes are published before they are stored", in: "LocalQueue.swift",
        at: "other.words.pointee.tail.store", .dropsRelease,
        foundBy: "local queue: a thief publishes stolen nodes after it has stored them",
        isWeak: true),
      Mutant(
        "a thief does not announce that it holds nodes", in: "LocalQueue.swift",
        at: "other.words.pointee.tail.store", .skips,
        foundBy: "local queue: a thief publishes stolen nodes after it has stored them"),
      Mutant(
        "a thief forgets the band", in: "LocalQueue.swift", at: "other.words.pointee.band.store",
        .skips,
        foundBy: "local queue: a thief takes the band over with the nodes"),
      Mutant(
        "the owner refills without seeing that a slot was read", in: "LocalQueue.swift",
        at: "let first = words.pointee.head.load(ordering: .acquiring)", after: "func room",
        .returns(0xffff_ffff), foundBy: "local queue: a full one is refilled while a thief copies"),
    ]
  }
}
