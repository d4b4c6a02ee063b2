// Room: Models/Rings. Ring: its owner puts and takes, others steal. Head and tail begin two before their wrap.

extension Catalogue {
  static var rings: [EngineModel] {
    [
      EngineModel("ring: its owner puts and takes while a thief steals") { scene in
        let (own, other) = (OwnedRing(), OwnedRing())
        let parcels = Parcels(3)
        scene.thread("owner") {
          for number in 0..<2 { own.ring.put(parcels.send(number), band: .default) }
          if let node = own.ring.take() { parcels.receive(node) }
          own.ring.put(parcels.send(2), band: .default)
        }
        scene.thread("thief") {
          if let node = own.ring.steal(into: other.ring) { parcels.receive(node) }
          if let node = other.ring.take() { parcels.receive(node) }
        }
        scene.finally {
          parcels.receiveAll { own.ring.take() }
          parcels.expectAllArrived()
        }
      },
      EngineModel("ring: a full one is refilled while a thief copies") { scene in
        let (own, other) = (OwnedRing(), OwnedRing())
        let parcels = Parcels(6)
        for number in 0..<4 { own.ring.put(parcels.send(number), band: .default) }
        scene.thread("owner") {
          for number in 4..<6 {
            while !own.ring.accepts(.default) {
              if let node = own.ring.take() { parcels.receive(node) }
            }
            own.ring.put(parcels.send(number), band: .default)
          }
        }
        scene.thread("thief") {
          if let node = own.ring.steal(into: other.ring) { parcels.receive(node) }
          parcels.receiveAll { other.ring.take() }
        }
        scene.finally {
          parcels.receiveAll { own.ring.take() }
          parcels.expectAllArrived()
        }
      },
      EngineModel("ring: a thief with room of its own puts what it stole before it says so") {
        scene in
        // The third takes from the thief's ring, so what is copied there must be whole when it shows.
        let (own, other) = (OwnedRing(), OwnedRing())
        let parcels = Parcels(3)
        scene.thread("owner") {
          for number in 0..<3 { own.ring.put(parcels.send(number), band: .default) }
        }
        scene.thread("thief") {
          if let node = own.ring.steal(into: other.ring) { parcels.receive(node) }
        }
        scene.thread("third") {
          if let (node, band) = other.ring.takeOldest() {
            parcels.receive(node)
            Checker.expect(band == .default, "a stolen node changed its band")
          }
        }
        scene.finally {
          parcels.receiveAll { own.ring.take() }
          parcels.receiveAll { other.ring.take() }
          parcels.expectAllArrived()
        }
      },
      EngineModel("ring: the band that a thief reads is its nodes'") { scene in
        let (own, other) = (OwnedRing(), OwnedRing())
        let parcels = Parcels(2)
        own.ring.put(parcels.send(0), band: .default)
        scene.thread("owner") {
          if let node = own.ring.take() { parcels.receive(node) }
          if own.ring.accepts(.userInitiated) {
            own.ring.put(parcels.send(1), band: .userInitiated)
          }
        }
        scene.thread("thief") {
          guard let (node, band) = own.ring.takeOldest() else { return }
          let number = parcels.receive(node)
          Checker.expect(
            band == (number == 0 ? .default : .userInitiated), "node \(number) is in band \(band)")
        }
        scene.finally {
          parcels.receiveAll { own.ring.take() }
          Checker.expect(own.ring.isEmpty && other.ring.isEmpty, "something is left")
          parcels.expectAllArrived()
        }
      },
      EngineModel("ring: a thief takes the band over with the nodes") { scene in
        let (own, other) = (OwnedRing(), OwnedRing())
        let parcels = Parcels(4)
        for number in 0..<2 { own.ring.put(parcels.send(number), band: .default) }
        scene.thread("owner") {
          for _ in 0..<2 { own.ring.take().map { _ = parcels.receive($0) } }
          for number in 2..<4 {
            Checker.expect(own.ring.accepts(.userInitiated), "an empty ring takes any band")
            own.ring.put(parcels.send(number), band: .userInitiated)
          }
        }
        scene.thread("thief") {
          guard own.ring.isWorthStealing(after: 1),
            let node = own.ring.steal(into: other.ring)
          else { return }
          let number = parcels.receive(node)
          Checker.expect(
            other.ring.band == (number < 2 ? .default : .userInitiated),
            "node \(number) is in band \(other.ring.band)")
        }
        scene.finally {
          parcels.receiveAll { own.ring.take() }
          parcels.receiveAll { other.ring.take() }
          parcels.expectAllArrived()
        }
      },
      EngineModel("ring: two thieves and the owner share two nodes") { scene in
        let rings = (0..<3).map { _ in OwnedRing() }
        let parcels = Parcels(2)
        rings[0].ring.put(parcels.send(0), band: .default)
        scene.thread("owner") {
          rings[0].ring.put(parcels.send(1), band: .default)
          if let node = rings[0].ring.take() { parcels.receive(node) }
        }
        for number in 1...2 {
          scene.thread("thief \(number)") {
            if let node = rings[0].ring.steal(into: rings[number].ring) { parcels.receive(node) }
          }
        }
        scene.finally {
          for ring in rings { parcels.receiveAll { ring.ring.take() } }
          parcels.expectAllArrived()
        }
      },
      EngineModel("ring: a thief that sees a new head and an old tail comes to an end") { scene in
        let rings = (0..<2).map { _ in OwnedRing() }
        let parcels = Parcels(1)
        scene.thread("owner") {
          rings[0].ring.put(parcels.send(0), band: .default)
          if let node = rings[0].ring.take() { parcels.receive(node) }
        }
        scene.thread("thief") {
          if let node = rings[0].ring.steal(into: rings[1].ring) { parcels.receive(node) }
        }
        scene.thread("picker") {
          if let (node, _) = rings[0].ring.takeOldest() { parcels.receive(node) }
        }
        scene.finally { parcels.expectAllArrived() }
      },
    ]
  }

  static var ringMutants: [Mutant] {
    let steal = "func steal(into"
    let basic = "ring: its owner puts and takes while a thief steals"
    return [
      Mutant(
        "a put publishes nothing", in: "Ring.swift", at: "tail.store(last &+ 1", .dropsRelease,
        foundBy: basic),
      Mutant(
        "the owner takes without comparing", in: "Ring.swift", at: "words.pointee.head.weakCompare",
        after: "func take()", .isBlind, foundBy: basic),
      Mutant(
        "a thief takes without comparing", in: "Ring.swift", at: "words.pointee.head.weakCompare",
        after: steal, .isBlind, foundBy: basic),
      Mutant(
        "a thief's exchange falls in two", in: "Ring.swift", at: "words.pointee.head.weakCompare",
        after: steal, .splits, foundBy: "ring: two thieves and the owner share two nodes"),
      Mutant(
        "a thief looks at tail without acquiring", in: "Ring.swift",
        at: "let last = words.pointee.tail.load(ordering: .acquiring)", after: steal, .dropsAcquire,
        foundBy: basic),
      Mutant(
        "the oldest is taken without acquiring", in: "Ring.swift",
        at: "let last = words.pointee.tail.load(ordering: .acquiring)",
        after: "func takeOldest()", .dropsAcquire,
        foundBy: "ring: the band that a thief reads is its nodes'"),
      Mutant(
        "what was stolen shows before it is whole", in: "Ring.swift",
        at: "other.words.pointee.tail.store", .dropsRelease,
        foundBy: "ring: a thief with room of its own puts what it stole before it says so",
        isWeak: true),
      Mutant(
        "a thief does not say that it holds nodes", in: "Ring.swift",
        at: "other.words.pointee.tail.store", .skips,
        foundBy: "ring: a thief with room of its own puts what it stole before it says so"),
      Mutant(
        "a thief forgets the band", in: "Ring.swift", at: "other.words.pointee.band.store", .skips,
        foundBy: "ring: a thief takes the band over with the nodes"),
      Mutant(
        "the owner refills without seeing that a slot was read", in: "Ring.swift",
        at: "let first = words.pointee.head.load(ordering: .acquiring)", after: "func accepts",
        .returns(0xffff_ffff), foundBy: "ring: a full one is refilled while a thief copies"),
    ]
  }
}
