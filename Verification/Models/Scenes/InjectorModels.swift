// Room: Models/Injectors. Injector: any thread pushes; takers move the inbox to the front under a
// lock.

extension Injector {
  /// Takes the oldest node only.
  fileprivate func takeOne(_ localQueue: OwnedLocalQueue) -> WorkNode? {
    take(atMost: 1, localQueue: localQueue.localQueue, band: .default)
  }
}

extension Catalogue {
  static var injectors: [EngineModel] {
    [
      EngineModel("injector: two threads push, one takes") { scene in
        let (injector, localQueue) = (Injector(), OwnedLocalQueue())
        let parcels = Parcels(3)
        scene.thread("first") { for number in 0..<2 { injector.push(parcels.send(number)) } }
        scene.thread("second") { injector.push(parcels.send(2)) }
        scene.thread("taker") {
          var last = -1
          while let node = injector.takeOne(localQueue) {
            let number = parcels.receive(node)
            Checker.expect(number == 2 || number > last, "node \(number) overtook node \(last)")
            if number != 2 { last = number }
          }
        }
        scene.finally {
          parcels.receiveAll { injector.takeOne(localQueue) }
          parcels.expectAllArrived()
          Checker.expect(injector.isEmpty, "an injector with nothing in it is not empty")
        }
      },
      EngineModel("injector: two threads take what one pushes") { scene in
        let (injector, rings) = (Injector(), [OwnedLocalQueue(), OwnedLocalQueue()])
        let parcels = Parcels(3)
        injector.push(parcels.send(0))
        scene.thread("pusher") { injector.push(parcels.send(1)) }
        for number in 0..<2 {
          scene.thread("taker \(number)") {
            let localQueue = rings[number]
            if let node = injector.take(
              atMost: 4, localQueue: localQueue.localQueue, band: .default)
            {
              parcels.receive(node)
            }
            parcels.receiveAll { localQueue.localQueue.take() }
          }
        }
        scene.finally {
          injector.push(parcels.send(2))
          parcels.receiveAll { injector.takeOne(rings[0]) }
          parcels.expectAllArrived()
          Checker.expect(injector.isEmpty, "an injector with nothing in it is not empty")
        }
      },
      EngineModel("injector: it never looks empty while a node is queued") { scene in
        // One of the two nodes always waits: in the inbox, in the front, or between them.
        let (injector, localQueue) = (Injector(), OwnedLocalQueue())
        let parcels = Parcels(2)
        for number in 0..<2 { injector.push(parcels.send(number)) }
        scene.thread("taker") { injector.takeOne(localQueue).map { _ = parcels.receive($0) } }
        scene.thread("observer") {
          Checker.expect(!injector.isEmpty, "what waits is in neither of its places")
        }
        scene.finally {
          parcels.receiveAll { injector.takeOne(localQueue) }
          parcels.expectAllArrived()
        }
      },
      EngineModel("injector: a pusher finds it empty only after another thread took the node") {
        scene in
        let (injector, localQueue) = (Injector(), OwnedLocalQueue())
        let parcels = Parcels(2)
        let taken = Number()
        injector.push(parcels.send(0))
        scene.thread("pusher") {
          injector.push(parcels.send(1))
          if injector.isEmpty {
            Checker.expect(
              taken.word.load(ordering: .sequentiallyConsistent) == 2, "no thread has taken it")
          }
        }
        scene.thread("taker") {
          for _ in 0..<2 {
            taken.word.wrappingAdd(1, ordering: .sequentiallyConsistent)
            if let node = injector.takeOne(localQueue) {
              parcels.receive(node)
            } else {
              taken.word.wrappingSubtract(1, ordering: .sequentiallyConsistent)
            }
          }
        }
        scene.finally {
          Checker.expect(
            injector.isEmpty == (parcels.hasArrived(0) && parcels.hasArrived(1)),
            "it is empty while something waits, or is not while nothing does")
          parcels.receiveAll { injector.takeOne(localQueue) }
          parcels.expectAllArrived()
        }
      },
    ]
  }

  static var injectorMutants: [Mutant] {
    let waits = "injector: it never looks empty while a node is queued"
    let twoPush = "injector: two threads push, one takes"
    return [
      Mutant(
        "a push does not release", in: "Injector.swift", at: "inbox.weakCompareExchange",
        .dropsRelease, foundBy: twoPush),
      Mutant(
        "a push does not compare", in: "Injector.swift", at: "inbox.weakCompareExchange", .isBlind,
        foundBy: twoPush),
      Mutant(
        "the inbox is emptied with a load and a store", in: "Injector.swift",
        at: "inbox.exchange(0",
        .splits, foundBy: twoPush),
      Mutant(
        "the inbox is emptied without acquiring", in: "Injector.swift", at: "inbox.exchange(0",
        .dropsAcquire, foundBy: twoPush),
      Mutant(
        "the front is not published", in: "Injector.swift", at: "hasFront.store(true", .skips,
        foundBy: waits),
      Mutant(
        "the front is published without sequential consistency", in: "Injector.swift",
        at: "inbox.exchange(0",
        .dropsRelease, foundBy: waits, isWeak: true),
      Mutant(
        "an empty front is not published", in: "Injector.swift", at: "hasFront.store(false",
        after: "back = nil", .skips,
        foundBy: "injector: a pusher finds it empty only after another thread took the node"),
      Mutant(
        "two threads hold the injector's lock", in: "Lock.swift", at: "let (won, _)",
        after: "func lock()", .isBlind,
        foundBy: "injector: two threads take what one pushes"),
    ]
  }
}
