// Which QoS applies where: contract row P2.
import Testing

@testable import GrandCentralCore

@Suite("QoS propagation") struct QoSPropagationTests {
  typealias Flags = DispatchWorkItemFlags

  struct Capture: Sendable {
    var submitter: DispatchQoS
    var explicit: DispatchQoS = .unspecified
    var flags: Flags = []
    var carries: DispatchQoS
    var enforced = false
  }

  static let captures: [Capture] = [
    // Inferred: the submitter's class, at most user-initiated, without its relative priority.
    Capture(submitter: .unspecified, carries: .unspecified),
    Capture(submitter: .background, carries: .background),
    Capture(submitter: .utility, carries: .utility),
    Capture(submitter: .default, carries: .default),
    Capture(submitter: .userInitiated, carries: .userInitiated),
    Capture(submitter: .userInteractive, carries: .userInitiated),
    Capture(
      submitter: DispatchQoS(qosClass: .utility, relativePriority: -7), carries: .utility),
    // An explicit QoS wins over the submitter's and is not lowered.
    Capture(submitter: .userInteractive, explicit: .background, carries: .background),
    Capture(submitter: .background, explicit: .userInteractive, carries: .userInteractive),
    Capture(
      submitter: .default, explicit: DispatchQoS(qosClass: .utility, relativePriority: -3),
      carries: DispatchQoS(qosClass: .utility, relativePriority: -3)),
    // .noQoS and .detached carry nothing, but an explicit QoS overrides them.
    Capture(submitter: .utility, flags: .noQoS, carries: .unspecified),
    Capture(submitter: .utility, flags: .detached, carries: .unspecified),
    Capture(submitter: .utility, explicit: .background, flags: .noQoS, carries: .background),
    Capture(submitter: .utility, explicit: .background, flags: .detached, carries: .background),
    // .enforceQoS marks the carried QoS, if there is one.
    Capture(submitter: .utility, flags: .enforceQoS, carries: .utility, enforced: true),
    Capture(submitter: .unspecified, flags: .enforceQoS, carries: .unspecified),
    Capture(submitter: .utility, flags: [.enforceQoS, .noQoS], carries: .unspecified),
    Capture(
      submitter: .utility, explicit: .userInitiated, flags: .enforceQoS, carries: .userInitiated,
      enforced: true),
    Capture(
      submitter: .utility, explicit: .default, flags: [.inheritQoS, .enforceQoS],
      carries: .default, enforced: true),
    // Asynchronous work does what .inheritQoS asks for anyway; .assignCurrentContext infers, too.
    Capture(submitter: .utility, flags: .inheritQoS, carries: .utility),
    Capture(submitter: .userInteractive, flags: .assignCurrentContext, carries: .userInitiated),
    Capture(submitter: .utility, flags: .barrier, carries: .utility),
  ]

  @Test(arguments: captures)
  func `work carries what its submission says`(capture: Capture) {
    let carried = QoSPropagation.captured(
      from: PackedQoS(capture.submitter), explicit: PackedQoS(capture.explicit),
      flags: capture.flags)
    #expect(carried.dispatchQoS == capture.carries)
    #expect(carried.isEnforced == capture.enforced)
  }

  @Test(arguments: captures.filter { $0.explicit == .unspecified && $0.flags == [] })
  func `the plain case infers the same QoS`(capture: Capture) {
    let inferred = QoSPropagation.inferred(from: PackedQoS(capture.submitter))
    #expect(inferred.dispatchQoS == capture.carries)
  }

  @Test func `enforcement does not outlive the item`() {
    let running = PackedQoS(.utility, enforced: true)
    #expect(QoSPropagation.inferred(from: running) == PackedQoS(.utility))
  }

  struct Run: Sendable {
    var item: DispatchQoS
    var enforced = false
    var queue: DispatchQoS
    var runsAt: DispatchQoS
  }

  @Test(arguments: [
    Run(item: .utility, queue: .unspecified, runsAt: .utility),
    Run(item: .unspecified, queue: .unspecified, runsAt: .unspecified),
    Run(item: .unspecified, queue: .utility, runsAt: .utility),
    Run(item: .userInitiated, queue: .background, runsAt: .background),
    Run(item: .background, queue: .userInitiated, runsAt: .userInitiated),
    Run(item: .userInitiated, enforced: true, queue: .background, runsAt: .userInitiated),
    Run(item: .background, enforced: true, queue: .userInitiated, runsAt: .userInitiated),
    Run(item: .background, enforced: true, queue: .unspecified, runsAt: .background),
    Run(
      item: .utility, enforced: true,
      queue: DispatchQoS(qosClass: .utility, relativePriority: -1), runsAt: .utility),
  ])
  func `an item runs at its queue's QoS unless that has none or the item's is enforced`(run: Run) {
    let item = PackedQoS(run.item, enforced: run.enforced)
    let queue = PackedQoS(run.queue)
    #expect(QoSPropagation.effective(item: item, queue: queue).dispatchQoS == run.runsAt)
  }

  @Test func `an enforced item keeps its QoS through a hierarchy`() {
    let item = PackedQoS(.userInitiated, enforced: true)
    let inner = QoSPropagation.effective(item: item, queue: PackedQoS(.background))
    let outer = QoSPropagation.activation(
      of: inner, queue: PackedQoS(.utility), inherited: .unspecified)
    #expect(outer.band == .userInitiated)
  }

  struct Inheritance: Sendable {
    var item: DispatchQoS
    var enforced = false
    var queue: DispatchQoS = .unspecified
    var inherited: DispatchQoS
    var isMain = false
    var runsAt: DispatchQoS
  }

  @Test(arguments: [
    // The queue has no QoS: its target's applies as its own.
    Inheritance(item: .unspecified, inherited: .utility, runsAt: .utility),
    Inheritance(item: .background, inherited: .utility, runsAt: .utility),
    Inheritance(item: .userInitiated, inherited: .utility, runsAt: .utility),
    Inheritance(item: .userInitiated, inherited: .background, runsAt: .background),
    Inheritance(item: .background, enforced: true, inherited: .utility, runsAt: .utility),
    Inheritance(
      item: .userInitiated, enforced: true, inherited: .utility, runsAt: .userInitiated),
    // No target has a QoS: the item's own applies.
    Inheritance(item: .userInitiated, inherited: .unspecified, runsAt: .userInitiated),
    // The queue's own QoS wins over the target's, whichever is more urgent.
    Inheritance(item: .default, queue: .background, inherited: .utility, runsAt: .background),
    Inheritance(item: .default, queue: .userInitiated, inherited: .utility, runsAt: .userInitiated),
    Inheritance(
      item: .userInitiated, enforced: true, queue: .background, inherited: .utility,
      runsAt: .userInitiated),
    // Nothing lowers the main thread.
    Inheritance(
      item: .background, inherited: .userInteractive, isMain: true, runsAt: .userInteractive),
    Inheritance(
      item: .background, queue: .background, inherited: .userInteractive, isMain: true,
      runsAt: .userInteractive),
  ])
  func `a queue without a QoS runs its items at what its targets hand down`(
    run: Inheritance
  ) {
    let inherited = QoSPropagation.handedDown(
      queue: PackedQoS(run.inherited), inherited: .unspecified, isMain: run.isMain)
    let runsAt = QoSPropagation.effective(
      item: PackedQoS(run.item, enforced: run.enforced), queue: PackedQoS(run.queue),
      inherited: inherited)
    #expect(runsAt.dispatchQoS == run.runsAt)
  }

  @Test func `a floor raises to it what is less, and lowers nothing`() {
    let bands = Band.allCases.map { PackedQoS(band: $0) }
    for item in bands + bands.dropFirst().map(\.enforced) {
      for given in bands.dropFirst() {
        for inherited in bands + bands.dropFirst().map(\.enforced) {
          let least = max(given.urgency, inherited.urgency)
          // The result without the floor.
          let ranked = QoSPropagation.effective(
            item: item, queue: .unspecified, inherited: inherited)
          let runsAt = QoSPropagation.effective(
            item: item, queue: given.floor, inherited: inherited)
          #expect(runsAt.urgency == max(ranked.urgency, given.urgency) && !runsAt.isFloor)
          let brings = QoSPropagation.activation(
            of: item, queue: given.floor, inherited: inherited)
          #expect(brings.urgency == max(item.urgency, least) && !brings.isFloor)
          let handedDown = QoSPropagation.handedDown(
            queue: given.floor, inherited: inherited, isMain: false)
          #expect(handedDown.urgency == least)
          #expect(handedDown.isFloor == (inherited == .unspecified))
          #expect(handedDown.isEnforced == inherited.isEnforced)
        }
      }
    }
  }

  @Test func `a floor that is handed down raises and never lowers`() {
    let floor = QoSPropagation.handedDown(
      queue: PackedQoS(.utility).floor, inherited: .unspecified, isMain: false)
    func runsAt(_ item: DispatchQoS, _ queue: PackedQoS = .unspecified) -> DispatchQoS {
      QoSPropagation.effective(item: PackedQoS(item), queue: queue, inherited: floor).dispatchQoS
    }
    #expect(runsAt(.background) == .utility)
    #expect(runsAt(.userInitiated) == .userInitiated)
    #expect(runsAt(.background, PackedQoS(.default).floor) == .default)
    #expect(runsAt(.userInitiated, PackedQoS(.background)) == .background)
    let both = QoSPropagation.handedDown(
      queue: PackedQoS(.default).floor, inherited: floor, isMain: false)
    #expect(both == PackedQoS(.default).floor)
  }

  @Test func `the nearest target with a QoS hands it down`() {
    func handedDown(_ queue: DispatchQoS, _ inherited: PackedQoS) -> PackedQoS {
      QoSPropagation.handedDown(queue: PackedQoS(queue), inherited: inherited, isMain: false)
    }
    let root = handedDown(.background, .unspecified)
    #expect(handedDown(.unspecified, root).band == .background)
    #expect(handedDown(.utility, root).band == .utility)
    #expect(handedDown(.unspecified, handedDown(.utility, root)).band == .utility)
    let main = QoSPropagation.handedDown(
      queue: PackedQoS(.userInteractive), inherited: .unspecified, isMain: true)
    #expect(handedDown(.background, main).band == .userInteractive)
    #expect(handedDown(.background, main).isEnforced)
  }

  @Test(arguments: [
    (DispatchQoS.userInitiated, DispatchQoS.utility, DispatchQoS.userInitiated),
    (.background, .utility, .utility), (.utility, .unspecified, .utility),
    (.unspecified, .unspecified, .unspecified),
  ])
  func `a lane that asks to be drained can only be raised by its target's QoS`(
    lane: DispatchQoS, target: DispatchQoS, brings: DispatchQoS
  ) {
    let brought = QoSPropagation.activation(
      of: PackedQoS(lane), queue: PackedQoS(target), inherited: .unspecified)
    #expect(brought.dispatchQoS == brings)
  }

  @Test func `performing by hand raises and never lowers`() {
    let background = PackedQoS(.background)
    let initiated = PackedQoS(.userInitiated)
    #expect(QoSPropagation.performed(item: initiated, on: background) == initiated)
    #expect(QoSPropagation.performed(item: background, on: initiated) == initiated)
    #expect(QoSPropagation.performed(item: .unspecified, on: background) == background)
    #expect(QoSPropagation.performed(item: background, on: .unspecified) == background)
  }

  @Test func `urgency orders by class, then by relative priority`() {
    let rising: [DispatchQoS] = [
      .unspecified, DispatchQoS(qosClass: .background, relativePriority: -15), .background,
      DispatchQoS(qosClass: .utility, relativePriority: -1), .utility, .default,
      DispatchQoS(qosClass: .userInitiated, relativePriority: -2), .userInitiated,
      DispatchQoS(qosClass: .userInteractive, relativePriority: -15), .userInteractive,
    ]
    for (lower, higher) in zip(rising, rising.dropFirst()) {
      #expect(PackedQoS(lower).urgency < PackedQoS(higher).urgency)
      #expect(
        QoSPropagation.mostUrgent(PackedQoS(lower), PackedQoS(higher)).dispatchQoS == higher)
    }
  }
}

@Suite("A quality of service") struct DispatchQoSTests {
  static let classes: [(DispatchQoS.QoSClass, UInt32)] = [
    (.userInteractive, 0x21), (.userInitiated, 0x19), (.default, 0x15), (.utility, 0x11),
    (.background, 0x09), (.unspecified, 0),
  ]

  @Test(arguments: classes)
  func `has the class numbers of C`(qosClass: DispatchQoS.QoSClass, number: UInt32) {
    #expect(qosClass.rawValue == number)
    #expect(DispatchQoS.QoSClass(rawValue: number) == qosClass)
  }

  @Test(arguments: [1, 0x20, 0xff] as [UInt32])
  func `has no class for other numbers`(number: UInt32) {
    #expect(DispatchQoS.QoSClass(rawValue: number) == nil)
  }

  @Test(arguments: classes.map(\.0), [0, -1, -15])
  func `survives packing`(qosClass: DispatchQoS.QoSClass, relativePriority: Int) {
    let qos = DispatchQoS(qosClass: qosClass, relativePriority: relativePriority)
    #expect(PackedQoS(qos).dispatchQoS == qos)
    #expect(PackedQoS(qos, enforced: true).dispatchQoS == qos)
  }

  @Test func `maps the legacy priorities`() {
    #expect(LegacyPriority(rawValue: 2)?.qosClass == .userInitiated)
    #expect(LegacyPriority(rawValue: 0)?.qosClass == .default)
    #expect(LegacyPriority(rawValue: -2)?.qosClass == .utility)
    #expect(LegacyPriority(rawValue: Int(Int16.min))?.qosClass == .background)
    #expect(LegacyPriority(rawValue: 1) == nil)
  }

  @Test(
    arguments: [
      (DispatchWorkItemFlags.barrier, 0x1), (.detached, 0x2), (.assignCurrentContext, 0x4),
      (.noQoS, 0x8), (.inheritQoS, 0x10), (.enforceQoS, 0x20),
    ] as [(DispatchWorkItemFlags, UInt)])
  func `flags have the bits of C`(flag: DispatchWorkItemFlags, bits: UInt) {
    #expect(flag.rawValue == bits)
  }

  @Test func `a relative priority out of range stops and names the range`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = DispatchWorkItem(qos: DispatchQoS(qosClass: .utility, relativePriority: -16)) {}
    }
    #expect(says(result, "BUG IN CLIENT OF GRAND CENTRAL: "))
    #expect(says(result, "relativePriority: -16"))
    #expect(says(result, "from 0 down to -15"))
  }
}
