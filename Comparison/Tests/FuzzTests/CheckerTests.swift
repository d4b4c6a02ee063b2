import FuzzKit
import Testing

/// Each rule on logs written by hand: one log that keeps the promise, one that breaks it.
@Suite("The checker") struct CheckerTests {
  private let serial = QueueSpec(.serial)
  private let concurrent = QueueSpec(.concurrent)

  @Test func `requires every item once`() {
    let one = program(serial, do: [async(0)])
    #expect(judge(one, "c0 r0 s0 e0") == nil)
    #expect(judge(one, "c0 r0") == .exactlyOnce)
    #expect(judge(one, "c0 r0 s0 e0 s0 e0") == .exactlyOnce)
    #expect(judge(one, "c0 r0 s0") == .exactlyOnce)
    // A step that was not reached has no requirements.
    #expect(judge(one, "") == nil)
  }

  @Test func `excuses a cancelled item, but not from running twice`() {
    let one = program(serial, do: [handle(0), .cancel(id: 1, item: 0)])
    #expect(judge(one, "c0 r0 c1 r1") == nil)
    #expect(judge(one, "c0 r0 s0 c1 r1 e0") == nil)
    #expect(judge(one, "c0 r0 c1 r1 s0 e0 s0 e0") == .exactlyOnce)
  }

  @Test func `requires that nothing runs before it is submitted`() {
    let one = program(serial, do: [async(0)])
    #expect(judge(one, "c0 s0 e0 r0") == nil)
    #expect(judge(one, "s0 e0 c0 r0") == .notBeforeCall)
  }

  @Test func `requires that sync returns after its item, with its value`() {
    let one = program(serial, do: [async(0), sync(1)])
    #expect(judge(one, "c0 r0 s0 e0 c1 s1 e1 r1=1") == nil)
    #expect(judge(one, "c0 r0 s0 e0 c1 s1 r1=1 e1") == .syncReturnsAfter)
    #expect(judge(one, "c0 r0 s0 e0 c1 s1 e1 r1=0") == .syncReturnsAfter)
  }

  @Test func `requires all iterations before the return`() {
    let one = program(serial, do: [.iterate(id: 0, [Item(1), Item(2)])])
    #expect(judge(one, "c0 s1 s2 e1 e2 r0") == nil)
    #expect(judge(one, "c0 s1 s2 e1 r0 e2") == .iterationsComplete)
    #expect(judge(one, "c0 s1 e1 r0") == .exactlyOnce)
  }

  // MARK: Exclusion

  @Test func `requires one item at a time on a serial queue`() {
    let two = program(serial, do: [async(0), async(1)])
    #expect(judge(two, "c0 r0 c1 r1 s0 e0 s1 e1") == nil)
    #expect(judge(two, "c0 r0 c1 r1 s0 s1 e0 e1") == .serialExclusion)
    #expect(judge(program(concurrent, do: [async(0), async(1)]), "c0 r0 c1 r1 s0 s1 e0 e1") == nil)
  }

  @Test func `requires exclusion wherever the serial queue is in the chain`() {
    let chain = program(
      QueueSpec(.concurrent, target: 2), QueueSpec(.serial, target: 2),
      QueueSpec(.concurrent, target: 3), QueueSpec(.serial), do: [async(0), async(1, on: 1)])
    #expect(judge(chain, "c0 r0 c1 r1 s1 e1 s0 e0") == nil)
    #expect(judge(chain, "c0 r0 c1 r1 s1 s0 e1 e0") == .serialExclusion)
  }

  @Test func `requires a barrier alone, among child queues too`() {
    let own = program(concurrent, do: [async(0), async(1, barrier: true)])
    #expect(judge(own, "c0 r0 c1 r1 s0 e0 s1 e1") == nil)
    #expect(judge(own, "c0 c1 s1 s0 e0 e1 r0 r1") == .barrierExclusion)
    let child = program(
      QueueSpec(.concurrent, target: 1), concurrent, do: [async(0), async(1, on: 1, barrier: true)])
    #expect(judge(child, "c0 r0 c1 r1 s1 e1 s0 e0") == nil)
    #expect(judge(child, "c0 r0 c1 r1 s1 s0 e0 e1") == .barrierExclusion)
    // A child's barrier is ordinary work of the target.
    let upwards = program(
      QueueSpec(.concurrent, target: 1), concurrent, do: [async(0, barrier: true), async(1, on: 1)])
    #expect(judge(upwards, "c0 r0 c1 r1 s1 s0 e0 e1") == nil)
  }

  // MARK: Order

  @Test func `requires serial queues in order of submission, sync included`() {
    let two = program(serial, do: [async(0), sync(1)])
    #expect(judge(two, "c0 r0 c1 s0 e0 s1 e1 r1=1") == nil)
    #expect(judge(two, "c0 r0 c1 s1 e1 r1=1 s0 e0") == .serialOrder)
    // Two calls at the same time have no order.
    #expect(judge(two, "c0 c1 r0 s1 e1 r1=1 s0 e0") == nil)
  }

  @Test func `requires barriers in order, others not`() {
    let barrier = program(concurrent, do: [async(0), async(1, barrier: true), async(2)])
    #expect(judge(barrier, "c0 r0 c1 r1 c2 r2 s0 e0 s1 e1 s2 e2") == nil)
    #expect(judge(barrier, "c0 r0 c1 r1 c2 r2 s1 e1 s0 e0 s2 e2") == .barrierOrder)
    #expect(judge(barrier, "c0 r0 c1 r1 c2 r2 s0 e0 s2 e2 s1 e1") == .barrierOrder)
    let plain = program(concurrent, do: [async(0), async(1)])
    #expect(judge(plain, "c0 r0 c1 r1 s1 e1 s0 e0") == nil)
  }

  // MARK: Groups and semaphores

  @Test func `requires a group's wait after its members`() {
    let group = program(
      serial, groups: 1, do: [member(0), .waitGroup(id: 1, group: 0, patience: 5), member(2)])
    #expect(judge(group, "c0 r0 c1 s0 e0 r1=1 c2 r2 s2 e2") == nil)
    #expect(judge(group, "c0 r0 c1 s0 r1=1 e0 c2 r2 s2 e2") == .groupWaits)
    // A wait that timed out promises nothing, nor does a wait for members that join later.
    #expect(judge(group, "c0 r0 c1 s0 r1=0 e0 c2 r2 s2 e2") == nil)
    #expect(judge(group, "c0 r0 s0 e0 c1 c2 r2 r1=1 s2 e2") == nil)
  }

  @Test func `requires a group's notification after its members`() {
    let group = program(
      serial, concurrent, groups: 1, do: [member(0), .notify(group: 0, queue: 1, Item(1))])
    #expect(judge(group, "c0 r0 c1 r1 s0 e0 s1 e1") == nil)
    #expect(judge(group, "c0 r0 c1 r1 s0 s1 e1 e0") == .groupNotifies)
  }

  @Test func `requires no more holders than permits`() {
    let permit = program(
      serial, semaphores: [1],
      do: [
        .permit(id: 0, semaphore: 0, patience: nil, body: []),
        .permit(id: 1, semaphore: 0, patience: 9, body: []),
      ])
    #expect(judge(permit, "c0 r0=1 c1 x0 r1=1 x1") == nil)
    #expect(judge(permit, "c0 r0=1 c1 r1=1 x0 x1") == .permits)
    #expect(judge(permit, "c0 r0=1 c1 r1=0 x0") == nil)
  }

  @Test func `requires a signal before a handshake's return`() {
    let handshake = program(
      serial, semaphores: [0], do: [.handshake(id: 0, semaphore: 0, Submission(Item(1), queue: 0))])
    #expect(judge(handshake, "c1 r1 c0 s1 e1 x0 r0") == nil)
    #expect(judge(handshake, "c1 r1 c0 r0 s1 e1 x0") == .permits)
  }
}
