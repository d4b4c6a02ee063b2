// Room: Models/Injectors. Injector: any thread pushes, and moves an inbox that it has filled behind
// the chunks; takers take chunks, or the front, under a lock. Three nodes fill an inbox. A push
// that meets another makes the threads use further inboxes, if the injector has any.

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
      EngineModel("injector: a full inbox moves while another thread takes") { scene in
        let (injector, localQueue) = (Injector(), OwnedLocalQueue())
        let parcels = Parcels(6)
        for number in 0..<2 { injector.push(parcels.send(number)) }
        scene.thread("pusher") {
          for number in 2..<5 { injector.push(parcels.send(number)) }
        }
        scene.thread("taker") {
          var last = -1
          for _ in 0..<2 {
            guard let node = injector.takeOne(localQueue) else { continue }
            let number = parcels.receive(node)
            Checker.expect(number == last + 1, "node \(number) follows node \(last)")
            last = number
          }
        }
        scene.finally {
          injector.push(parcels.send(5))
          var last = -1
          parcels.receiveAll {
            guard let node = injector.takeOne(localQueue) else { return nil }
            let number = Int(bitPattern: node.context) - 1
            Checker.expect(number > last, "node \(number) came after node \(last)")
            last = number
            return node
          }
          parcels.expectAllArrived()
          Checker.expect(
            injector.isEmpty && injector.chunks == nil && injector.arrived == nil,
            "an injector with nothing in it has a chunk")
        }
      },
      EngineModel("injector: two threads fill the inbox", reach: .bounded(preemptions: 3)) {
        scene in
        let (injector, localQueue) = (Injector(), OwnedLocalQueue())
        let parcels = Parcels(6)
        for number in 0..<2 {
          scene.thread("pusher \(number)") {
            for step in 0..<3 { injector.push(parcels.send(3 * number + step)) }
          }
        }
        scene.finally {
          Checker.expect(injector.arrived != nil, "no thread has moved the full inbox")
          var last = [-1, -1]
          parcels.receiveAll {
            guard let node = injector.takeOne(localQueue) else { return nil }
            let number = Int(bitPattern: node.context) - 1
            Checker.expect(number % 3 > last[number / 3], "a thread's nodes changed their order")
            last[number / 3] = number % 3
            return node
          }
          parcels.expectAllArrived()
          Checker.expect(injector.isEmpty, "an injector with nothing in it is not empty")
        }
      },
      EngineModel(
        "injector: pushes that meet use further inboxes", reach: .bounded(preemptions: 3)
      ) { scene in
        let (injector, localQueue) = (Injector(inboxes: 2), OwnedLocalQueue())
        let parcels = Parcels(4)
        for number in 0..<2 {
          scene.thread("pusher \(number)") {
            for step in 0..<2 { injector.push(parcels.send(2 * number + step)) }
          }
        }
        scene.thread("taker") { injector.takeOne(localQueue).map { _ = parcels.receive($0) } }
        scene.finally {
          parcels.receiveAll { injector.takeOne(localQueue) }
          parcels.expectAllArrived()
          Checker.expect(injector.isEmpty, "an injector with nothing in it is not empty")
        }
      },
      EngineModel("injector: a check and a push on a further inbox see each other") { scene in
        let injector = Injector(inboxes: 1)
        let parcels = Parcels(1)
        let parked = Number()
        let hasSeenNothing = [Number(), Number()]
        scene.thread("first to meet others") { injector.useFurther() }
        scene.thread("pusher") {
          injector.push(parcels.send(0))
          if parked.word.load(ordering: .sequentiallyConsistent) == 0 {
            hasSeenNothing[0].word.store(1, ordering: .relaxed)
          }
        }
        scene.thread("worker") {
          parked.word.store(1, ordering: .sequentiallyConsistent)
          if injector.isEmpty { hasSeenNothing[1].word.store(1, ordering: .relaxed) }
        }
        scene.finally {
          Checker.expect(
            hasSeenNothing.contains { $0.word.load(ordering: .relaxed) == 0 },
            "neither the pusher nor the worker sees the other")
        }
      },
      EngineModel("injector: a taker empties a further inbox") { scene in
        let (injector, localQueue) = (Injector(inboxes: 1), OwnedLocalQueue())
        let parcels = Parcels(3)
        injector.useFurther()
        for number in 0..<2 { injector.push(parcels.send(number)) }
        scene.thread("pusher") { injector.push(parcels.send(2)) }
        scene.thread("taker") { injector.takeOne(localQueue).map { _ = parcels.receive($0) } }
        scene.thread("observer") {
          Checker.expect(!injector.isEmpty, "what waits is in neither of its places")
        }
        scene.finally {
          var last = -1
          parcels.receiveAll {
            guard let node = injector.takeOne(localQueue) else { return nil }
            let number = Int(bitPattern: node.context) - 1
            Checker.expect(number > last || number == 0, "node \(number) came after node \(last)")
            last = number
            return node
          }
          parcels.expectAllArrived()
          Checker.expect(injector.isEmpty, "an injector with nothing in it is not empty")
        }
      },
      EngineModel(
        "injector: nodes keep their order when further inboxes begin", reach: .exhaustedStrong
      ) { scene in
        let (injector, localQueue) = (Injector(inboxes: 1), OwnedLocalQueue())
        let parcels = Parcels(3)
        var last = -1
        let take = { () -> WorkNode? in
          guard let node = injector.takeOne(localQueue) else { return nil }
          let number = Int(bitPattern: node.context) - 1
          Checker.expect(number > last, "node \(number) came after node \(last)")
          last = number
          return node
        }
        scene.thread("pusher") {
          for number in 0..<3 { injector.push(parcels.send(number)) }
        }
        scene.thread("first to meet others") { injector.useFurther() }
        scene.thread("taker") { for _ in 0..<2 { take().map { _ = parcels.receive($0) } } }
        scene.finally {
          parcels.receiveAll(from: take)
          parcels.expectAllArrived()
          Checker.expect(injector.isEmpty, "an injector with nothing in it is not empty")
        }
      },
      EngineModel("injector: it never looks empty while a node is queued") { scene in
        // One of the nodes always waits: in the inbox, in a chunk, in the front, or between them.
        let (injector, localQueue) = (Injector(), OwnedLocalQueue())
        let parcels = Parcels(3)
        for number in 0..<2 { injector.push(parcels.send(number)) }
        scene.thread("pusher") { injector.push(parcels.send(2)) }
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
    let moves = "injector: a full inbox moves while another thread takes"
    let further = "injector: a taker empties a further inbox"
    let seeEachOther = "injector: a check and a push on a further inbox see each other"
    return [
      Mutant(
        "a push does not release", in: "Injector.swift", at: "inbox.change(",
        .dropsRelease, foundBy: twoPush),
      Mutant(
        "a push does not compare", in: "Injector.swift", at: "inbox.change(", .isBlind,
        foundBy: twoPush),
      Mutant(
        "the inbox is emptied with a load and a store", in: "Injector.swift",
        at: "inbox.exchange(.empty", .splits, foundBy: twoPush),
      Mutant(
        "the inbox is emptied without acquiring", in: "Injector.swift", at: "inbox.exchange(.empty",
        .dropsAcquire, foundBy: twoPush),
      Mutant(
        "a taker with room for all nodes empties the inbox without a look", in: "Injector.swift",
        at: "inbox.compareExchange(", .isBlind, foundBy: twoPush),
      Mutant(
        "a taker with room for all nodes does not acquire them", in: "Injector.swift",
        at: "inbox.compareExchange(", .dropsAcquire,
        foundBy: "injector: two threads take what one pushes"),
      Mutant(
        "the front is not published", in: "Injector.swift", at: "places.store(known.union(.front)",
        .skips,
        foundBy: waits),
      Mutant(
        "the front is published without sequential consistency", in: "Injector.swift",
        at: "inbox.exchange(.empty",
        .dropsRelease, foundBy: waits, isWeak: true),
      Mutant(
        "an empty front is not published", in: "Injector.swift",
        at: "places.store(knownPlaces.subtracting(.front), ordering: .releasing)",
        .skips,
        foundBy: "injector: a pusher finds it empty only after another thread took the node"),
      Mutant(
        "two threads hold the injector's lock", in: "Lock.swift", at: "let (won, _)",
        after: "func lock()", .isBlind,
        foundBy: "injector: two threads take what one pushes"),
      Mutant(
        "a full inbox moves although another thread holds the lock", in: "Lock.swift",
        at: "let (won, _)", after: "func tryLock()", .isBlind, foundBy: moves),
      Mutant(
        "an inbox moves without seeing the last holder of the lock", in: "Lock.swift",
        at: "let (won, _)", after: "func tryLock()", .dropsAcquire, foundBy: moves),
      Mutant(
        "an inbox moves that was emptied meanwhile", in: "Injector.swift",
        at: "let isFull = withInbox", .returns(63), foundBy: moves),
      Mutant(
        "a full inbox does not move", in: "Injector.swift", at: "let isFull = withInbox",
        .returns(0), foundBy: "injector: two threads fill the inbox"),
      Mutant(
        "an older node in the first inbox is not seen", in: "Injector.swift",
        at: "if number > 0 && list != .empty && inbox.load", .returns(0),
        foundBy: "injector: nodes keep their order when further inboxes begin"),
      Mutant(
        "a check does not look at the further inboxes", in: "Injector.swift",
        at: "where further[number].pointee.load", .returns(0), foundBy: further),
      Mutant(
        "a check of a further inbox may read stale values", in: "Injector.swift",
        at: "where further[number].pointee.load", .dropsSequential, foundBy: seeEachOther,
        isWeak: true),
      Mutant(
        "a check may miss that further inboxes are in use", in: "Injector.swift",
        at: "let places = places.load(ordering: .sequentiallyConsistent)", .dropsSequential,
        foundBy: seeEachOther, isWeak: true),
      Mutant(
        "the use of further inboxes is not in the single order", in: "Injector.swift",
        at: "places.store(knownPlaces.union(.inboxes), ordering: .sequentiallyConsistent)",
        .dropsSequential,
        foundBy: seeEachOther, isWeak: true),
      Mutant(
        "a check misses what has left a further inbox", in: "Injector.swift",
        at: "return !places.load(ordering: .relaxed)", .returns(0), foundBy: further),
    ]
  }
}
