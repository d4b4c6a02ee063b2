// Forks from different places: items, handlers, inside queues.
import CFaults
import Glibc
import GrandCentral
import TestSupport

func fromMain(_ words: [String]) {
  useEverything()
  fork("from the main thread", useEverything)
  useEverything()
}

func beforeFirstUse(_ words: [String]) {
  fork("before its first use", useEverything)
  parentContinues()
}

/// The parent has a board, which its wait made, and has used no queue.
func afterWaitAlone(_ words: [String]) {
  let semaphore = DispatchSemaphore(value: 0)
  check(semaphore.wait(timeout: .now() + .milliseconds(5)) == .timedOut, "the wait ends")
  fork("after a wait for a semaphore", useEverything)
  parentContinues()
}

/// The child starts inside an item, and returns from it.
func fromWorker(_ words: [String]) {
  let queue = DispatchQueue(label: "forks")
  let done = Latch()
  queue.async {
    queue.async(execute: failInChild)
    let child = faults_fork()
    if child == 0 {
      beginChild()
      useEverything()
      // In the child this runs after the current item.
      return queue.async { finish() }
    }
    expectEnd(of: child, "a child that returns from the item continues")
    done.open()
  }
  check(done.wait(), "the item ended")
  check(queue.sync { true }, "and the queue continues")
  let concurrent = DispatchQueue(label: "forks too", attributes: .concurrent, target: queue)
  let again = Latch()
  concurrent.async {
    let child = faults_fork()
    if child == 0 {
      beginChild()
      return concurrent.async(flags: .barrier) { queue.async { finish() } }
    }
    expectEnd(of: child, "it continues through a target")
    again.open()
  }
  check(again.wait(), "the item ended")
  parentContinues()
}

/// Forks from a handler, which the thread that received the event runs.
func fromHandler(_ words: [String]) {
  let queue = DispatchQueue(label: "handlers")
  for number in 0..<8 {
    let pipe = DescriptorPair.pipe()
    let done = Latch()
    let source = DispatchSource.makeReadSource(fileDescriptor: pipe.input, queue: queue)
    source.setEventHandler {
      readBytes(pipe.input, atMost: 100)
      let child = faults_fork()
      if child == 0 {
        beginChild()
        useEverything()
        return queue.async { finish() }
      }
      expectEnd(of: child, "handler \(number)")
      done.open()
    }
    source.activate()
    writeBytes(pipe.output, 1)
    check(done.wait(), "the handler ended")
    source.cancel()
  }
  parentContinues()
}

/// Forks inside queues that are shared, and inside their targets.
func insideQueues(_ words: [String]) {
  let serial = DispatchQueue(label: "bottom")
  let shared = DispatchQueue(label: "shared", attributes: .concurrent)
  let above = DispatchQueue(label: "above", attributes: .concurrent, target: shared)
  let beside = DispatchQueue(label: "beside", target: shared)
  let others = Latch(2)
  let go = Latch()
  for _ in 0..<2 {
    shared.async {
      others.open()
      _ = go.wait()
      failInChild()
    }
  }
  check(others.wait(), "others are inside")
  let all = [serial, shared, above, beside]
  serial.sync {
    above.sync {
      shared.sync {
        beside.sync {
          fork("inside of four queues") {
            check(isHeld(serial) && isHeld(beside), "what it holds alone is held")
            let entered = Latch()
            shared.async { entered.open() }
            check(entered.wait(), "what it shares is shared")
          }
          forkAndReturn()
        }
      }
    }
  }
  if getpid() == firstProcess { go.open() }
  expectIdle(all)
}

/// Forks in an item of a queue that targets another; both queues count the item.
func insideBarrier(_ words: [String]) {
  let shared = DispatchQueue(label: "shared", attributes: .concurrent)
  let above = DispatchQueue(label: "above", attributes: .concurrent, target: shared)
  for flags: DispatchWorkItemFlags in [[], .barrier] {
    let done = Latch()
    above.async(flags: flags) {
      shared.sync { forkAndReturn() }
      // The child submits its own item after this one.
      if getpid() != firstProcess {
        return above.async(flags: .barrier) {
          shared.async(flags: .barrier) { finish() }
        }
      }
      done.open()
    }
    check(done.wait(), "the item ended")
  }
  expectIdle([above, shared])
}

/// Forks and returns in both processes. The parent waits for the child's exit.
private func forkAndReturn() {
  let child = faults_fork()
  if child == 0 { return beginChild() }
  expectEnd(of: child, "one that comes back")
}

private func isHeld(_ queue: DispatchQueue) -> Bool {
  let entered = Latch()
  queue.async { entered.open() }
  // The item waits behind the thread that holds the queue. An item of another queue runs at once,
  // and sees whether the first has run.
  return !DispatchQueue(label: "beside").sync { entered.isOpen }
}

/// Checks that each queue is free: barriers run on it, from another thread and from this one.
private func expectIdle(_ queues: [DispatchQueue]) {
  let done = Latch(queues.count)
  for queue in queues { queue.async(flags: .barrier) { done.open() } }
  check(done.wait(), "all queues that it held are free")
  for queue in queues { queue.sync(flags: .barrier) {} }
}

func fromMainItem(_ words: [String]) {
  DispatchQueue.main.async {
    fork("from an item of the main queue") {
      let done = Latch()
      DispatchQueue.global().async { done.open() }
      check(done.wait(), "queues run")
    }
    let child = faults_fork()
    if child == 0 {
      beginChild()
      return DispatchQueue.main.async { finish() }
    }
    expectEnd(of: child, "the main queue continues after the item")
    finish()
  }
  DispatchQueue.main.async(execute: failInChild)
  dispatchMain()
}

/// The child ends when its only thread does, as a process without the engine.
func lastThreadEnds(_ words: [String]) {
  useEverything()
  waitUntilOthersSleep()
  endedChild("of the main thread")
  let thread = TestThread("forks") {
    endedChild("of another thread")
    let child = faults_fork()
    if child == 0 { return beginChild() }
    expectEnd(of: child, "of a thread that returns")
  }
  check(thread.join(), "the thread ends")
  let queue = DispatchQueue(label: "forks")
  queue.sync { endedChild("inside of a queue") }
  let done = Latch()
  queue.async {
    endedChild("of a worker")
    let child = faults_fork()
    if child == 0 { return beginChild() }
    expectEnd(of: child, "of a worker that gets no more work")
    done.open()
  }
  check(done.wait(seconds: 2 * deadlineSeconds), "the item ended")
  parentContinues()
}

/// Forks a child whose thread ends at once.
private func endedChild(_ what: String) {
  let child = faults_fork()
  if child == 0 {
    beginChild()
    pthread_exit(nil)
  }
  expectEnd(of: child, what)
}

/// Workers drain the main queue of the parent, whose main thread has ended. That of a child belongs
/// to the thread that forked, unless it is a worker that forked inside the main queue.
func afterMainThread(_ words: [String]) {
  let main = pthread_self()
  _ = TestThread("later") {
    check(pthread_join(main, nil) == 0, "the main thread ends")
    fork("after the end of the main thread") {
      DispatchQueue.global().async {
        DispatchQueue.main.async {
          check(isMainThread(), "the main queue is the child's main thread's")
          finish()
        }
      }
      dispatchMain()
    }
    DispatchQueue.main.async {
      fork("from an item that a worker runs for the main thread") {
        dispatchPrecondition(condition: .onQueue(.main))
        useEverything()
      }
      let child = faults_fork()
      if child == 0 {
        beginChild()
        // The forking thread takes one of these items when it returns to the pool, so it does not
        // end before the main queue has run.
        let done = Latch()
        for _ in 0..<8 { DispatchQueue.global().async { check(done.wait(), "it runs") } }
        return DispatchQueue.main.async {
          done.open()
          finish()
        }
      }
      expectEnd(of: child, "workers drain the main queue of the child of one of its items")
      DispatchQueue.main.async { finish() }
    }
  }
  pthread_exit(nil)
}

func mainQueueOfChild(_ words: [String]) {
  let queue = DispatchQueue(label: "forks")
  let done = Latch()
  DispatchQueue.main.async(execute: failInChild)
  queue.async {
    let child = faults_fork()
    if child == 0 {
      beginChild()
      DispatchQueue.global().async {
        DispatchQueue.main.async {
          check(isMainThread(), "the main queue is the first thread's")
          finish()
        }
      }
      dispatchMain()
    }
    expectEnd(of: child, "a worker became the main thread of a child")
    done.open()
  }
  check(done.wait(), "the item ended")
}

func grandchildren(_ words: [String]) {
  useEverything()
  fork("a child") {
    useEverything()
    fork("a grandchild") {
      useEverything()
      fork("its child", useEverything)
      useQueues()
    }
    useEverything()
  }
  parentContinues()
}
