import FuzzKit
import Testing

/// The rules on suspension, activation, targets, times and work items.
@Suite("The checker of queues and work items") struct CheckerQueueTests {
  private let serial = QueueSpec(.serial)
  private let concurrent = QueueSpec(.concurrent)

  @Test func `requires what comes after a suspension to wait`() {
    for kind in [QueueSpec.Kind.serial, .concurrent] {
      let one = program(
        QueueSpec(kind), do: [async(0), .suspended(id: 1, queue: 0, body: [async(2)])])
      #expect(judge(one, "c0 r0 c1 r1 c2 r2 s0 e0 x1 s2 e2") == nil)
      #expect(judge(one, "c0 r0 c1 r1 c2 r2 s0 e0 s2 x1 e2") == .suspension)
    }
  }

  @Test func `requires it of concurrent queues only where it is promised`() {
    let one = program(concurrent, do: [.suspended(id: 0, queue: 0, body: [async(1)])])
    #expect(judge(one, "c0 r0 c1 r1 s1 x0 e1", promises: []) == nil)
    #expect(judge(one, "c0 r0 c1 r1 s1 x0 e1") == .suspension)
  }

  @Test func `requires that nothing starts when the queue's own item suspends it`() {
    let target = program(
      QueueSpec(.serial, target: 1), serial,
      do: [async(0, on: 1, .suspended(id: 1, queue: 1, body: [])), async(2)])
    #expect(judge(target, "c0 r0 c2 r2 s0 c1 r1 x1 e0 s2 e2") == nil)
    let later = program(
      QueueSpec(.serial, target: 1), serial, QueueSpec(.serial, level: 1),
      do: [
        async(0, on: 1, .suspendUntil(id: 1, queue: 1, Submission(Item(2), queue: 2))), async(3),
      ])
    #expect(judge(later, "c0 r0 c3 r3 s0 c1 r1 c2 r2 e0 s2 e2 x1 s3 e3") == nil)
    #expect(judge(later, "c0 r0 c3 r3 s0 c1 r1 c2 r2 e0 s3 e3 s2 e2 x1") == .suspension)
  }

  @Test func `requires that nothing runs on an inactive queue, nor through one`() {
    let inactive = program(
      QueueSpec(.serial, target: 1), QueueSpec(.serial, isInactive: true),
      do: [async(0), .activate(id: 1, queue: 1, target: nil)])
    #expect(judge(inactive, "c0 r0 c1 s0 r1 e0") == nil)
    #expect(judge(inactive, "c0 r0 s0 e0 c1 r1") == .activation)
  }

  @Test func `requires that no item runs before its deadline`() {
    let after = program(
      serial, do: [.submit(Submission(Item(0), queue: 0, way: .after(5)))])
    #expect(judge(after, "c0=500 r0 s0=500 e0") == nil)
    #expect(judge(after, "c0=500 r0 s0=499 e0") == .afterDeadline)
  }

  @Test func `requires the order of submission of tasks, not of an actor's callers`() {
    let prefers = program(serial, do: [task(0), async(1)])
    #expect(judge(prefers, "c0 r0 c1 r1 s0 e0 s1 e1") == nil)
    #expect(judge(prefers, "c0 r0 c1 r1 s1 e1 s0 e0") == .serialOrder)
    let calls = program(serial, do: [task(0, way: .actor(hops: 1)), async(1)])
    #expect(judge(calls, "c0 r0 c1 r1 s1 e1 s0 e0") == nil)
    #expect(judge(calls, "c0 r0 c1 r1 s1 s0 e1 e0") == .serialExclusion)
  }

  @Test func `refuses tasks as barriers or with handles, and actors without a serial queue`() {
    #expect(program(concurrent, do: [task(0)]).isLegal)
    #expect(!program(concurrent, do: [task(0, way: .actor(hops: 0))]).isLegal)
    #expect(!program(serial, do: [handle(0, way: .task)]).isLegal)
    let barrier = Submission(Item(0), queue: 0, way: .task, isBarrier: true)
    #expect(!program(concurrent, do: [.submit(barrier)]).isLegal)
    #expect(throws: Complaint.self) { try program(serial, do: [task(0)]).check(against: []) }
  }

  @Test func `requires that a cancelled item does not run`() {
    let early = program(serial, do: [.cancel(id: 0, item: 1), handle(1)])
    #expect(judge(early, "c0 r0 c1 r1") == nil)
    #expect(judge(early, "c0 r0 c1 r1 s1 e1") == .cancellation)
    #expect(judge(early, "c0 c1 r0 r1 s1 e1") == nil)
  }

  @Test func `requires it too when another item was ahead of it`() {
    let behind = program(serial, do: [async(0), handle(1), .cancel(id: 2, item: 1)])
    #expect(judge(behind, "c0 r0 c1 r1 s0 c2 r2 e0") == nil)
    #expect(judge(behind, "c0 r0 c1 r1 s0 c2 r2 e0 s1 e1") == .cancellation)
    #expect(judge(behind, "c0 r0 c1 r1 s0 e0 c2 r2 s1 e1") == nil)
  }

  @Test func `requires a work item's wait and notification after it`() {
    let waited = program(serial, do: [handle(0), .waitItem(id: 1, item: 0)])
    #expect(judge(waited, "c0 r0 c1 s0 e0 r1") == nil)
    #expect(judge(waited, "c0 r0 c1 s0 r1 e0") == .itemWaits)
    let observed = program(
      serial, concurrent, do: [handle(0), .notifyItem(of: 0, queue: 1, Item(1))])
    #expect(judge(observed, "c0 r0 c1 r1 s0 e0 s1 e1") == nil)
    #expect(judge(observed, "c0 r0 c1 r1 s0 s1 e0 e1") == .itemNotifies)
  }

  @Test func `requires the nearest queue's specific`() {
    let chain = program(
      QueueSpec(.serial, target: 1), QueueSpec(.serial, target: 2, specifics: 1),
      QueueSpec(.serial, specifics: 1), do: [async(0, .readSpecific(id: 1, key: 0))])
    #expect(judge(chain, "c0 r0 s0 c1 r1=2 e0") == nil)
    #expect(judge(chain, "c0 r0 s0 c1 r1=3 e0") == .specifics)
    #expect(judge(chain, "c0 r0 s0 c1 r1=0 e0") == .specifics)
  }

  // MARK: Targets that change

  private var moved: Program {
    program(
      QueueSpec(.serial, target: 1), QueueSpec(.serial, specifics: 1),
      QueueSpec(.serial, specifics: 1),
      do: [
        async(0, .readSpecific(id: 1, key: 0)), .retarget(id: 2, queue: 0, target: 2),
        async(3, .readSpecific(id: 4, key: 0)), async(5, on: 1),
      ])
  }

  @Test func `requires the old target before a change and the new one after it`() {
    #expect(judge(moved, "c0 r0 c2 r2 c3 r3 s0 c1 r1=2 e0 s3 c4 r4=3 e3 c5 r5 s5 e5") == nil)
    #expect(judge(moved, "c0 r0 c2 r2 c3 r3 s0 c1 r1=3 e0 s3 c4 r4=3 e3") == .specifics)
    #expect(judge(moved, "c0 r0 c2 r2 c3 r3 s0 c1 r1=2 e0 s3 c4 r4=2 e3") == .specifics)
  }

  @Test func `accepts either target where the log leaves it open`() {
    #expect(judge(moved, "c0 c2 r0 r2 s0 c1 r1=2 e0") == nil)
    #expect(judge(moved, "c0 c2 r0 r2 s0 c1 r1=3 e0") == nil)
    #expect(judge(moved, "c0 c2 r0 r2 s0 c1 r1=0 e0") == .specifics)
  }

  @Test func `requires exclusion with the target of the time`() {
    #expect(judge(moved, "c0 r0 c5 r5 s0 s5 e0 e5") == .serialExclusion)
    #expect(judge(moved, "c2 r2 c3 r3 c5 r5 s3 s5 e3 e5") == nil)
  }

  @Test func `reports what a run that hangs left open`() {
    let one = program(serial, do: [async(0), sync(1)])
    let violation = Report.unfinished(one, log("c0 r0 c1"))
    #expect(violation.invariant == .everythingEnds)
    #expect(violation.sentence.contains("item 0 has not started"))
    #expect(violation.sentence.contains("item 1 was called, did not return and has not started"))
  }
}
