// Labels, classes, attributes and lives of queues: contract rows Q1, Q17, Q23, Q26.
import GrandCentral
import TestSupport
import Testing

@Suite("A queue") struct QueuePropertyTests {
  @Test(arguments: ["com.example.queue", "", "naïve – 列", String(repeating: "long", count: 100)])
  func `keeps its label`(_ label: String) {
    #expect(DispatchQueue(label: label).label == label)
    #expect(DispatchQueue(label: label, attributes: .concurrent).label == label)
  }

  @Test func `takes its quality of service at creation`() {
    #expect(DispatchQueue(label: "qos.none").qos == .unspecified)
    #expect(DispatchQueue(label: "qos.utility", qos: .utility).qos == .utility)
    let precise = DispatchQoS(qosClass: .userInitiated, relativePriority: -4)
    let queue = DispatchQueue(label: "qos.precise", qos: precise, attributes: .concurrent)
    #expect(queue.qos == precise)
  }

  @Test func `accepts every autorelease frequency`() {
    for frequency in [DispatchQueue.AutoreleaseFrequency.inherit, .workItem, .never] {
      let queue = DispatchQueue(label: "autorelease", autoreleaseFrequency: frequency)
      #expect(queue.sync { 1 } == 1)
    }
  }

  @Test func `combines attributes as a set`() {
    let both: DispatchQueue.Attributes = [.concurrent, .initiallyInactive]
    #expect(both.contains(.concurrent) && both.contains(.initiallyInactive))
    #expect(DispatchQueue.Attributes() == [])
    #expect(DispatchQueue.Attributes.concurrent != .initiallyInactive)
    #expect(DispatchQueue.Attributes(rawValue: both.rawValue) == both)
  }

  @Test func `costs little: a hundred thousand idle ones are fine`() {
    let queues = (0..<100_000).map { _ in DispatchQueue(label: "many") }
    #expect(queues.last?.sync { 1 } == 1)
    #expect(queues.first?.sync { 2 } == 2)
  }

  @Test func `lives until its pending work is done`() {
    let gate = Latch()
    let order = Log<Int>()
    do {
      let queue = DispatchQueue(label: "lifetime.pending")
      queue.async { _ = gate.wait() }
      for number in 0..<100 { queue.async { order.append(number) } }
    }
    gate.open()
    #expect(order.waitForCount(100))
    #expect(order.all == Array(0..<100))
  }

  @Test func `may be released by its own item`() {
    let key = DispatchSpecificKey<Witness>()
    let gone = Latch(200)
    for _ in 0..<200 {
      let queue = DispatchQueue(label: "lifetime.own")
      queue.setSpecific(key: key, value: Witness { gone.open() })
      let holder = Box<DispatchQueue?>(queue)
      queue.async { holder.value = nil }
    }
    #expect(gone.wait())
  }

  @Test func `is freed with its last reference`() {
    let key = DispatchSpecificKey<Witness>()
    let gone = Latch()
    do {
      let queue = DispatchQueue(label: "lifetime.idle")
      queue.setSpecific(key: key, value: Witness { gone.open() })
      queue.sync {}
    }
    #expect(gone.wait())
  }

  @Test func `weak reference ends with the queue`() {
    weak var reference: DispatchQueue?
    do {
      let queue = DispatchQueue(label: "lifetime.weak")
      reference = queue
      #expect(reference?.label == "lifetime.weak")
    }
    #expect(reference == nil)
  }
}

@Suite("A global queue") struct GlobalQueueTests {
  static let classes: [DispatchQoS.QoSClass] = [
    .userInteractive, .userInitiated, .default, .utility, .background,
  ]

  @Test(arguments: classes)
  func `exists once for each class and carries it`(_ qosClass: DispatchQoS.QoSClass) {
    let queue = DispatchQueue.global(qos: qosClass)
    #expect(queue === DispatchQueue.global(qos: qosClass))
    #expect(queue.qos.qosClass == qosClass)
    let done = Latch()
    queue.async { done.open() }
    #expect(done.wait())
    #expect(queue.sync { 1 } == 1)
  }

  @Test func `is the default one without a class`() {
    #expect(DispatchQueue.global() === DispatchQueue.global(qos: .default))
    #expect(DispatchQueue.global(qos: .unspecified) === DispatchQueue.global(qos: .default))
  }

  @Test func `differs between classes`() {
    let queues = Self.classes.map { ObjectIdentifier(DispatchQueue.global(qos: $0)) }
    #expect(Set(queues).count == Self.classes.count)
  }

  @Test(arguments: classes)
  func `has a label that names its class`(_ qosClass: DispatchQoS.QoSClass) {
    #expect(!DispatchQueue.global(qos: qosClass).label.isEmpty)
  }

  @Test func `runs items at the same time`() {
    let started = Latch(2)
    let met = Latch(2)
    for _ in 0..<2 {
      DispatchQueue.global().async {
        started.open()
        if started.wait() { met.open() }
      }
    }
    #expect(met.wait())
  }

  @Test func `runs every item of many threads`() {
    let done = Latch(4000)
    #expect(
      onThreads(4) { _ in
        for number in 0..<1000 {
          DispatchQueue.global(qos: Self.classes[number % 5]).async { done.open() }
        }
      })
    #expect(done.wait())
  }
}

@Suite("A global queue by legacy priority") struct LegacyPriorityTests {
  @Test func `is that of the matching class`() {
    for (queue, qosClass) in Self.legacyQueues() {
      #expect(queue === DispatchQueue.global(qos: qosClass))
    }
  }

  /// Calls through a protocol, so that only the deprecated function has a deprecation warning.
  private static func legacyQueues() -> [(DispatchQueue, DispatchQoS.QoSClass)] {
    (LegacyDoor.self as any LegacyQueues.Type).queues()
  }
}

private protocol LegacyQueues { static func queues() -> [(DispatchQueue, DispatchQoS.QoSClass)] }

private enum LegacyDoor: LegacyQueues {
  @available(*, deprecated, message: "The priorities are deprecated; what they mean is not.")
  static func queues() -> [(DispatchQueue, DispatchQoS.QoSClass)] {
    [
      (.global(priority: .high), .userInitiated), (.global(priority: .default), .default),
      (.global(priority: .low), .utility), (.global(priority: .background), .background),
    ]
  }
}
