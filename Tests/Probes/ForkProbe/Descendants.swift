// Forks whose children fork again, beside a ring and beside threads that wait at the gate.
import CFaults
import CGrandCentralLinux
import Glibc
import GrandCentral
import GrandCentralCore
import GrandCentralPrimitives
import TestSupport

func isOpen(_ number: Int32) -> Bool { fcntl(number, F_GETFD) >= 0 }

/// The descriptor of the engine's io_uring.
private func ringDescriptor() -> Int32? {
  (0..<256).first { number in
    var target = [UInt8](repeating: 0, count: 64)
    let count = readlink("/proc/self/fd/\(number)", &target, target.count)
    return count > 0 && String(decoding: target.prefix(count), as: UTF8.self).contains("[io_uring]")
  }
}

/// A child may reuse the numbers of descriptors that it has left to the parent. Its own fork must
/// not close them.
func reusedNumbers(_ words: [String]) {
  check(DispatchIO.fileBackend.kind == .uring && ringDescriptor() != nil, "there is a ring")
  let before = (0..<256).filter(isOpen)
  fork("a child that reuses numbers") {
    let left = before.filter { !isOpen($0) }
    check(left.count > 1, "the engine's descriptors are closed")
    let null = open("/dev/null", O_RDWR)
    for number in left where number != null { dup2(null, number) }
    check(left.allSatisfy(isOpen), "their numbers are used again")
    fork("its child") {
      let lost = left.filter { !isOpen($0) }
      check(lost.isEmpty, "they are open there: \(lost)")
    }
  }
}

nonisolated(unsafe) private var ringNumber: Int32 = -1
nonisolated(unsafe) private var sawRing = false

/// Handlers of the program that were registered after the engine's run after all of the engine's
/// steps, also if the ring is younger.
func programHandler(_ words: [String]) {
  DispatchQueue.global().sync {}
  pthread_atfork(nil, nil) { sawRing = isOpen(ringNumber) }
  useEverything()
  check(DispatchIO.fileBackend.kind == .uring, "there is a ring")
  ringNumber = ringDescriptor() ?? -1
  check(isOpen(ringNumber), "and it has a descriptor")
  fork("with a handler of the program") {
    check(!sawRing, "the handler finds the ring closed")
  }
  check(isOpen(ringNumber), "the parent keeps it")
}

/// A thread counts itself inside the gate before it sees that the gate is closed. The child does
/// not have that thread, and must not wait for it when it forks.
func caughtAtTheGate(_ words: [String]) {
  let (registered, closed, counted, go) = (Latch(), Latch(), Latch(), Latch())
  let caught = TestThread("caught") {
    let own = currentThread()
    registered.open()
    check(closed.wait(), "the gate is closed")
    check(!gc_lock_enter(own), "it does not enter")
    counted.open()
    _ = go.wait()
    gc_lock_leave(own)
  }
  check(registered.wait(), "a thread has a context")
  ForkHandlers.prepare()
  closed.open()
  check(counted.wait(), "it counts itself")
  fork("beside a thread at the gate") {
    fork("a grandchild", useQueues)
  }
  go.open()
  ForkHandlers.resumeParent()
  check(caught.join(), "the thread ends")
  parentContinues()
}

/// Under the thread sanitizer a child may do no more than this.
func forksOnly(_ words: [String]) {
  fork("a child") {
    fork("its child") { check(true, "it was forked") }
  }
  parentContinues()
}

/// One thread forks while another one asks the environment for an observer of the board. The child
/// has the observer, as the parent has.
func besideEnvironment(_ words: [String]) {
  // The handlers of forks, and no board.
  _ = DispatchQueue.global()
  let looked = Latch()
  let observer = BoardObserver(gap: 1_000_000) {
    looked.open()
    return nil
  }
  nonisolated(unsafe) var forker: TestThread?
  let error = BlackBox.shared.watch.begin(withEnvironment: {
    forker = TestThread("forker") {
      fork("while the environment is read") {
        DispatchQueue(label: "child").async {}
        check(looked.wait(), "the observer looks at the child's board")
      }
    }
    while gc_fork_seen_closer() == 0 { sched_yield() }
    return observer
  })
  check(forker?.join() == true, "the child has ended")
  parentContinues()
  check(looked.wait() && error == 0, "the observer looks at the parent's board")
}

/// What waits only for the forking thread is in both processes.
func notifications(_ words: [String]) {
  let (left, ended) = (Latch(), Latch())
  let group = DispatchGroup()
  group.enter()
  group.notify(queue: .global()) { left.open() }
  let item = DispatchWorkItem {
    let child = faults_fork()
    if child == 0 { return beginChild() }
    expectEnd(of: child, "a child inside of a group and an item")
  }
  item.notify(queue: .global()) { ended.open() }
  item.perform()
  group.leave()
  check(left.wait() && ended.wait(), "both notifications run")
}

/// A waiter of the parent takes no permit in the child.
func sharedSemaphore(_ words: [String]) {
  let semaphore = DispatchSemaphore(value: 0)
  let begun = Latch()
  let waiter = TestThread("waiter") {
    begun.open()
    semaphore.wait()
  }
  check(begun.wait(), "a thread waits")
  fork("beside a waiting thread") {
    for _ in 0..<3 {
      semaphore.signal()
      check(semaphore.wait(timeout: .now() + .seconds(deadlineSeconds)) == .success, "a permit")
    }
  }
  semaphore.signal()
  check(waiter.join(), "the parent's thread gets its own")
}
