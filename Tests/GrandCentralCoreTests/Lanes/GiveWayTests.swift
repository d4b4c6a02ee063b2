// A drain ends between two items when the monitor asks its thread to give way.
import CGrandCentralLinux
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A drain that is asked to give way") struct GiveWayTests {
  private let root = CapturingRoot()
  private let log = Log<Int>()

  private func askThisThread() { gc_give_way(currentThread()) }
  /// As a worker does when it picks its next work.
  private func pickNext() {
    gc_gave_way(currentThread())
    root.runOldest()
  }

  @Test func `goes behind other work of its target, and continues`() {
    let queue = DispatchQueue(label: "test.gives-way", target: root)
    queue.async { [self] in
      log.append(1)
      askThisThread()
    }
    queue.async { [log] in log.append(2) }
    pickNext()
    #expect(log.all == [1])
    #expect(root.count == 1, "the next activation")
    pickNext()
    #expect(log.all == [1, 2])
    #expect(queue.state.load(ordering: .relaxed) == LaneState(0))
  }

  @Test func `runs an item before it gives way`() {
    let queue = DispatchQueue(label: "test.gives-way.late", target: root)
    for number in 1...2 { queue.async { [log] in log.append(number) } }
    askThisThread()
    root.runOldest()
    #expect(log.all == [1])
    askThisThread()
    root.runOldest()
    #expect(log.all == [1, 2])
    gc_gave_way(currentThread())
    while root.count > 0 { root.runOldest() }
    #expect(queue.state.load(ordering: .relaxed) == LaneState(0))
  }

  @Test func `ends the drains around it`() {
    let outer = DispatchQueue(label: "test.gives-way.outer", target: root)
    let inner = DispatchQueue(label: "test.gives-way.inner", target: outer)
    inner.async { [self] in
      log.append(1)
      askThisThread()
    }
    inner.async { [log] in log.append(3) }
    outer.async { [log] in log.append(2) }
    pickNext()
    #expect(log.all == [1])
    #expect(root.count == 1)
    while root.count > 0 { pickNext() }
    #expect(log.all == [1, 2, 3])
  }
}
