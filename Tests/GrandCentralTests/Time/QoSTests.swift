// Classes of the public interface: contract rows P1 and P8.
import GrandCentral
import TestSupport
import Testing

@Suite("Quality of service") struct QoSTests {
  @Test func `has its classes`() {
    let named: [(DispatchQoS, DispatchQoS.QoSClass)] = [
      (.userInteractive, .userInteractive), (.userInitiated, .userInitiated),
      (.default, .default), (.utility, .utility), (.background, .background),
      (.unspecified, .unspecified),
    ]
    for (qos, qosClass) in named {
      #expect(qos.qosClass == qosClass)
      #expect(qos.relativePriority == 0)
      #expect(qos == DispatchQoS(qosClass: qosClass, relativePriority: 0))
    }
    #expect(Set(named.map(\.1)).count == 6)
  }

  @Test(arguments: [0, -1, -7, -15])
  func `carries a relative priority`(_ priority: Int) {
    let qos = DispatchQoS(qosClass: .utility, relativePriority: priority)
    #expect(qos.relativePriority == priority)
    #expect(qos.qosClass == .utility)
    #expect(DispatchQueue(label: "qos.relative", qos: qos).qos == qos)
    #expect((qos == .utility) == (priority == 0))
  }

  @Test func `of the main queue is at least user-initiated`() {
    #expect([.userInteractive, .userInitiated].contains(DispatchQueue.main.qos.qosClass))
  }

  @Test func `is accepted wherever work is submitted`() {
    let queue = DispatchQueue(label: "qos.submitted", qos: .background)
    let group = DispatchGroup()
    let runs = Counter()
    queue.async(qos: .userInitiated) { runs.add() }
    queue.async(group: group, qos: .utility, flags: .enforceQoS) { runs.add() }
    queue.async(qos: .userInteractive, flags: [.enforceQoS, .barrier]) { runs.add() }
    queue.async(execute: DispatchWorkItem(qos: .utility, flags: .inheritQoS) { runs.add() })
    queue.async(flags: .noQoS) { runs.add() }
    group.notify(qos: .utility, flags: .enforceQoS, queue: queue) { runs.add() }
    #expect(runs.waitForValue(6))
  }

  @Test func `of the calling code can be read`() {
    let low = DispatchQoS(qosClass: .utility, relativePriority: -3)
    let seen = Unguarded<[DispatchQoS]>([])
    let queue = DispatchQueue(label: "qos.current")
    queue.async(qos: low) { seen.value.append(.current) }
    queue.async(qos: .userInteractive) { seen.value.append(.current) }
    queue.sync {}
    #expect(seen.value == [low, .userInteractive])
    #expect(DispatchQoS.QoSClass.current == DispatchQoS.current.qosClass)
  }

  @Test func `is passed on, but a queue's is its own, or its target's`() {
    let seen = Unguarded<[DispatchQoS.QoSClass]>([])
    let low = DispatchQueue(label: "qos.low", qos: .utility)
    let plain = DispatchQueue(label: "qos.plain", target: low)
    let urgent = DispatchQueue(label: "qos.urgent", qos: .userInteractive)
    let unclassed = DispatchQueue(label: "qos.unclassed", target: plain)
    let free = DispatchQueue(label: "qos.free")
    let done = Latch(4)
    urgent.async {
      free.async {
        seen.value.append(.current)
        done.open()
      }
    }
    #expect(free.sync { seen.value }.count <= 1)
    urgent.sync {}
    free.sync {}
    urgent.async {
      unclassed.async {
        seen.value.append(.current)
        done.open()
      }
      plain.async {
        seen.value.append(.current)
        done.open()
      }
      plain.async(qos: .background) {
        seen.value.append(.current)
        done.open()
      }
    }
    #expect(done.wait())
    #expect(plain.sync { seen.value } == [.userInitiated, .utility, .utility, .utility])
  }

  @Test func `does not change the order of a serial queue`() {
    let queue = DispatchQueue(label: "qos.order")
    let order = Unguarded<[Int]>([])
    let classes: [DispatchQoS] = [.background, .userInteractive, .utility, .default]
    for number in 0..<200 {
      queue.async(qos: classes[number % 4], flags: number % 3 == 0 ? .enforceQoS : []) {
        order.value.append(number)
      }
    }
    queue.sync {}
    #expect(order.value == Array(0..<200))
  }
}
