import FuzzKit
import Testing

/// Which busy waits end on every engine that starts runnable items, and which may not.
@Suite("A legal busy wait") struct BusyWaitTests {
  private let low = QueueSpec(.serial, level: 0)
  private let high = QueueSpec(.serial, level: 1)
  private let concurrent = QueueSpec(.concurrent)

  @Test func `is for an item of a higher level`() {
    #expect(
      program(low, high, do: [async(0, on: 1), async(1, on: 0, busyWait(2, for: 0))]).isLegal)
    #expect(
      !program(low, high, do: [async(0, on: 0), async(1, on: 1, busyWait(2, for: 0))]).isLegal)
    #expect(!program(low, do: [async(0), async(1, busyWait(2, for: 0))]).isLegal)
  }

  @Test func `is for an item that was submitted before`() {
    #expect(program(low, do: [async(0), busyWait(1, for: 0), busyWait(2, for: 0)]).isLegal)
    #expect(!program(low, do: [busyWait(1, for: 0), async(0)]).isLegal)
    #expect(!program(low, high, do: [async(0, async(1, on: 1)), busyWait(2, for: 1)]).isLegal)
    let impatient = Op.permit(id: 0, semaphore: 0, patience: 5, body: [async(1)])
    #expect(program(low, semaphores: [1], do: [impatient]).isLegal)
    #expect(!program(low, semaphores: [1], do: [impatient, busyWait(2, for: 1)]).isLegal)
  }

  @Test func `is for an item that cannot be cancelled`() {
    #expect(program(low, do: [handle(0), busyWait(1, for: 0)]).isLegal)
    let cancelled = program(low, do: [handle(0), busyWait(1, for: 0), .cancel(id: 2, item: 0)])
    #expect(!cancelled.isLegal)
  }

  @Test func `keeps an inactive queue's activation possible`() {
    let inactive = QueueSpec(.serial, isInactive: true)
    let activate = Op.activate(id: 9, queue: 0, target: nil)
    #expect(program(inactive, do: [async(0), activate, busyWait(1, for: 0)]).isLegal)
    #expect(!program(inactive, do: [async(0), busyWait(1, for: 0), activate]).isLegal)
  }

  @Test func `keeps a suspension's end possible`() {
    func waiting(_ level: Int) -> Op {
      .suspended(id: 0, queue: 0, body: [async(1, on: level), busyWait(2, for: 1)])
    }
    #expect(program(low, high, do: [waiting(1)]).isLegal)
    #expect(!program(low, high, do: [waiting(0)]).isLegal)
  }

  @Test func `is on shared threads only where the engine promises it`() throws {
    let shared = program(concurrent, high, do: [async(0, on: 1), async(1, busyWait(2, for: 0))])
    try shared.check()
    #expect(throws: Complaint.self) { try shared.check(against: [.blocksAnywhere]) }
    let own = program(low, high, do: [async(0, on: 1), async(1, busyWait(2, for: 0))])
    try own.check(against: [])
  }
}

@Suite("A legal meeting") struct MeetingTests {
  private let serial = QueueSpec(.serial)
  private let concurrent = QueueSpec(.concurrent)
  private let global = QueueSpec(.global)

  private func child(of target: Int, _ kind: QueueSpec.Kind = .serial) -> QueueSpec {
    QueueSpec(kind, target: target)
  }

  @Test func `has members that can run at the same time`() {
    #expect(program(serial, serial, do: [meeting(0, on: 0, 1)]).isLegal)
    #expect(program(concurrent, do: [meeting(0, on: 0, 0, 0)]).isLegal)
    #expect(program(global, serial, concurrent, do: [meeting(0, on: 0, 0, 1, 2, 2)]).isLegal)
    #expect(!program(serial, do: [meeting(0, on: 0, 0)]).isLegal)
  }

  @Test func `has no serial queue in common`() {
    let chains = [child(of: 2), child(of: 2)]
    #expect(program(chains[0], chains[1], concurrent, do: [meeting(0, on: 0, 1, 2)]).isLegal)
    #expect(program(chains[0], chains[1], global, do: [meeting(0, on: 0, 1, 2)]).isLegal)
    #expect(!program(chains[0], chains[1], serial, do: [meeting(0, on: 0, 1)]).isLegal)
    #expect(!program(child(of: 1, .concurrent), serial, do: [meeting(0, on: 0, 0)]).isLegal)
    #expect(!program(child(of: 1), serial, do: [meeting(0, on: 0, 1)]).isLegal)
  }

  @Test func `counts targets that change`() {
    let retarget = Op.retarget(id: 9, queue: 0, target: 1)
    #expect(!program(serial, serial, do: [meeting(0, on: 0, 1), retarget]).isLegal)
    let inactive = QueueSpec(.serial, isInactive: true)
    let activate = [Int?.none, 1].map { Op.activate(id: 9, queue: 0, target: $0) }
    #expect(program(inactive, serial, do: [activate[0], meeting(0, on: 0, 1)]).isLegal)
    #expect(!program(inactive, serial, do: [activate[1], meeting(0, on: 0, 1)]).isLegal)
  }

  @Test func `has no barrier between its members`() {
    let crowd = meeting(0, on: 0, 0)
    #expect(!program(concurrent, do: [crowd, async(9, barrier: true)]).isLegal)
    #expect(!program(concurrent, do: [meeting(0, on: 0, 0, barrier: true)]).isLegal)
    #expect(!program(concurrent, do: [crowd, .retarget(id: 9, queue: 0, target: nil)]).isLegal)
    let target = [child(of: 1, .concurrent), concurrent]
    #expect(!program(target[0], target[1], do: [crowd, async(9, on: 1, barrier: true)]).isLegal)
    // In a hierarchy without other members, a member may be a barrier.
    #expect(program(concurrent, concurrent, do: [meeting(0, on: 0, 1, barrier: true)]).isLegal)
  }

  @Test func `is the only one of its hierarchies`() {
    let queues = [serial, serial, child(of: 4), child(of: 4), concurrent]
    func both(_ one: Op, _ other: Op) -> Bool {
      Program(queues: queues, drivers: [[one], [other]]).isLegal
    }
    #expect(both(meeting(0, on: 0, 1), meeting(5, on: 2, 3)))
    #expect(!both(meeting(0, on: 0, 1), meeting(5, on: 1, 0)))
    #expect(!both(meeting(0, on: 0, 2), meeting(5, on: 1, 3)))
  }

  @Test func `is of one level`() {
    #expect(!program(serial, QueueSpec(.serial, level: 1), do: [meeting(0, on: 0, 1)]).isLegal)
  }

  @Test func `is on shared threads only where the engine promises it`() throws {
    try program(serial, serial, do: [meeting(0, on: 0, 1)]).check(against: [])
    for queues in [[concurrent, serial], [global, serial], [child(of: 2), serial, concurrent]] {
      let shared = Program(queues: queues, drivers: [[meeting(0, on: 0, 1)]])
      try shared.check()
      #expect(throws: Complaint.self) { try shared.check(against: [.blocksAnywhere]) }
    }
  }

  @Test func `gets a longer timeout where it takes an engine seconds`() {
    func slowness(_ queue: QueueSpec, _ manner: Polling.Manner) -> Int {
      program(queue, queue, do: [meeting(0, on: 0, 1, by: Polling(manner))]).slowness
    }
    #expect(slowness(serial, .nap) == 2 && slowness(serial, .spin) == 2)
    #expect(slowness(global, .nap) == 2 && slowness(global, .spin) == 8)
    #expect(program(serial, do: [async(0)]).slowness == 1)
    let iterates = Op.iterate(
      id: 1, [Item(2, [.busyWait(id: 3, item: 0, until: .ended, by: .init(.spin))])])
    #expect(program(serial, do: [async(0), iterates]).slowness == 8)
  }
}
