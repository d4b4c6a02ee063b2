// Scenarios for the main thread only: a custom run loop, and mistakes of the client.
import Glibc
import GrandCentral
import TestSupport

@_spi(RunLoop) import enum GrandCentralCore.MainQueueRunLoop

nonisolated(unsafe) let mainThreadScenarios: [String: () -> Void] = [
  "run-loop": runLoop, "no-descriptor": noDescriptor, "drain-elsewhere": drainElsewhere,
  "throws": throwingSync, "between": betweenItems, "nested-main": nestedMain,
  "outside": outsideEveryQueue, "ended": endedMainThread, "drained-after-end": drainedAfterEnd,
  "self-sync-after-end": selfSyncAfterEnd, "ended-in-item": endedInItem,
]

private func isReadable(_ descriptor: Int32, milliseconds: Int32) -> Bool {
  var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  return poll(&entry, 1, milliseconds) == 1
}

/// A typical run loop: sleep on the descriptor, drain, repeat.
private func runLoop() {
  let descriptor = MainQueueRunLoop.descriptor()
  let isQuiet = !isReadable(descriptor, milliseconds: 0)
  let order = Unguarded<[String]>([])
  let onMain = Unguarded(true)
  let thread = TestThread("elsewhere") {
    for name in ["first", "second"] {
      DispatchQueue.main.async {
        order.value.append(name)
        onMain.value = onMain.value && isMainThread()
      }
    }
    DispatchQueue.main.sync { order.value.append("sync") }
  }
  while order.value.last != "sync" {
    guard isReadable(descriptor, milliseconds: Int32(deadlineSeconds * 1000)) else { break }
    var count: UInt64 = 0
    _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    MainQueueRunLoop.drain()
  }
  let hasJoined = thread.join()
  finish([
    "quiet": isQuiet, "same": MainQueueRunLoop.descriptor() == descriptor, "onMain": onMain.value,
    "order": order.value.joined(separator: ","), "joined": hasJoined,
  ])
}

private func noDescriptor() {
  let (result, number) = under(.noDescriptors) { (MainQueueRunLoop.descriptor(), errno) }
  finish(["descriptor": result, "isFull": number == EMFILE])
}

private func drainElsewhere() { _ = TestThread("elsewhere") { MainQueueRunLoop.drain() } }

private struct Refusal: Error {}

private func throwingSync() {
  _ = TestThread("elsewhere") {
    do {
      try DispatchQueue.main.sync { throw Refusal() }
      finish(["caught": false])
    } catch { finish(["caught": error is Refusal]) }
  }
}

/// Between two items the main thread is still on the main queue, and finds its specifics.
private func betweenItems() {
  let key = DispatchSpecificKey<String>()
  DispatchQueue.main.setSpecific(key: key, value: "main")
  let other = DispatchQueue(label: "other")
  let onOther = other.sync { DispatchQueue.getSpecific(key: key) ?? "nothing" }
  let onThread = Box("")
  let thread = TestThread("elsewhere") {
    onThread.value = DispatchQueue.getSpecific(key: key) ?? "nothing"
  }
  _ = thread.join()
  finish([
    "main": DispatchQueue.getSpecific(key: key) ?? "nothing", "other": onOther,
    "thread": onThread.value,
  ])
}

private func nestedMain() { DispatchQueue.main.async { dispatchMain() } }

/// The main thread ends before the process. A later thread, which gets its context, is not on the
/// main queue.
private func endedMainThread() {
  dispatchPrecondition(condition: .onQueue(.main))
  _ = TestThread("later") {
    let own = "/proc/self/task/\(getpid())/stat"
    while contents(of: own)?.contains(") Z ") == false { usleep(1000) }
    // The thread's first use of the engine.
    dispatchPrecondition(condition: .notOnQueue(.main))
    let key = DispatchSpecificKey<String>()
    DispatchQueue.main.setSpecific(key: key, value: "main")
    finish(["specific": DispatchQueue.getSpecific(key: key) ?? "none"])
  }
  pthread_exit(nil)
}

/// Ends the main thread, and then calls `body` on another.
private func endMainThread(then body: @escaping @Sendable () -> Void) -> Never {
  let main = pthread_self()
  _ = TestThread("later") {
    guard pthread_join(main, nil) == 0 else { exit(3) }
    body()
  }
  pthread_exit(nil)
}

/// The main thread ends in an item of the main queue, behind which another one waits.
private func endedInItem() {
  let log = Unguarded<[String]>([])
  DispatchQueue.main.async {
    endMainThread {
      DispatchQueue.main.sync { log.value.append("sync") }
      finish(["log": log.value.joined(separator: ","), "onMain": isMainThread()])
    }
  }
  DispatchQueue.main.async { log.value.append("queued") }
  MainQueueRunLoop.drain()
}

private func drainedAfterEnd() {
  let log = Unguarded<[String]>([])
  let key = DispatchSpecificKey<String>()
  DispatchQueue.main.setSpecific(key: key, value: "main")
  DispatchQueue.main.async { log.value.append("before") }
  let timer = DispatchSource.makeTimerSource(queue: .main)
  timer.schedule(deadline: .now() + .milliseconds(1))
  endMainThread {
    let value = DispatchQueue.main.sync {
      dispatchPrecondition(condition: .onQueue(.main))
      log.value.append("sync")
      return DispatchQueue.getSpecific(key: key) ?? "none"
    }
    let count = Unguarded(0)
    let group = DispatchGroup()
    for _ in 0..<4 {
      DispatchQueue.global().async(group: group) {
        for _ in 0..<1000 { DispatchQueue.main.async(group: group) { count.value += 1 } }
      }
    }
    let targeting = DispatchQueue(label: "targets.main", attributes: .concurrent, target: .main)
    group.notify(queue: targeting) {
      timer.setEventHandler {
        log.value.append("timer")
        finish([
          "log": log.value.joined(separator: ","), "specific": value, "count": count.value,
          "onMain": isMainThread(),
        ])
      }
      timer.resume()
    }
  }
}

private func selfSyncAfterEnd() {
  endMainThread { DispatchQueue.main.async { DispatchQueue.main.sync {} } }
}

private func outsideEveryQueue() {
  dispatchPrecondition(condition: .onQueue(DispatchQueue(label: "expected.queue")))
}
