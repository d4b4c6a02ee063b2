// Programs that hang in one way each, and a healthy one. Each prints "ready" and then blocks until
// its standard input ends; for each byte there it forgets a resume(). With a second argument the
// program also looks at itself.
import CFaults
import Glibc
import GrandCentral

func announceAndWait() -> Never {
  _ = write(STDOUT_FILENO, "ready\n", 6)
  var byte: UInt8 = 0
  while read(STDIN_FILENO, &byte, 1) == 1 { forgottenResume() }
  _exit(0)
}

/// Two queues: an item of each waits for the other, through sync() and a work item.
func deadlock() {
  let first = DispatchQueue(label: "first")
  let second = DispatchQueue(label: "second")
  let inSecond = DispatchSemaphore(value: 0)
  let asked = DispatchSemaphore(value: 0)
  let item = DispatchWorkItem {
    inSecond.signal()
    asked.wait()
    first.sync {}
  }
  second.async(execute: item)
  inSecond.wait()
  first.async {
    asked.signal()
    item.wait()
  }
}

/// An item of a queue waits for a group, and a thread waits for the queue.
func blockedByGroup() {
  let queue = DispatchQueue(label: "stuck")
  let group = DispatchGroup()
  let begun = DispatchSemaphore(value: 0)
  group.enter()
  queue.async {
    begun.signal()
    group.wait()
  }
  begun.wait()
  DispatchQueue.global().async { queue.sync {} }
}

/// An item of a queue sleeps in the kernel, and a thread waits for the queue.
func blocked() {
  let queue = DispatchQueue(label: "stuck")
  let begun = DispatchSemaphore(value: 0)
  queue.async {
    begun.signal()
    while true { pause() }
  }
  begun.wait()
  DispatchQueue.global().async { queue.sync {} }
}

/// An item of a queue waits for `wait`, which never ends, and a thread waits for the queue.
func blocked(by wait: @escaping @Sendable () -> Void) {
  let queue = DispatchQueue(label: "stuck")
  let begun = DispatchSemaphore(value: 0)
  queue.async {
    begun.signal()
    wait()
  }
  begun.wait()
  DispatchQueue.global().async { queue.sync {} }
}

/// Two queues wait for each other through sync() alone. The engine stops the process for it, after
/// it has waited for 50 ms.
func deadlockOfSync() {
  let queues = [DispatchQueue(label: "first"), DispatchQueue(label: "second")]
  let begun = DispatchGroup()
  for _ in queues { begun.enter() }
  for index in queues.indices {
    queues[index].async {
      begun.leave()
      begun.wait()
      queues[1 - index].sync {}
    }
  }
}

/// A thread waits for a group that an item has entered and not left.
func forgottenLeave() {
  let group = DispatchGroup()
  DispatchQueue.global().async(group: group) { group.enter() }
  startThread { group.wait() }
}

/// An item waits for a group whose work is behind it, in its own queue.
func waitForWorkBehind() {
  let uploads = DispatchQueue(label: "uploads")
  uploads.async {
    let parts = DispatchGroup()
    uploads.async(group: parts) {}
    parts.wait()
  }
}

func startThread(_ body: @escaping @Sendable () -> Void) {
  var thread = pthread_t()
  let box = Unmanaged.passRetained(ThreadBody(body))
  let error = pthread_create(
    &thread, nil,
    { raw in
      // SAFETY: the reference was retained for this thread.
      guard let raw else { return nil }
      Unmanaged<ThreadBody>.fromOpaque(raw).takeRetainedValue().body()
      return nil
    }, box.toOpaque())
  if error != 0 { exit(71) }
}

final class ThreadBody: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// A thousand threads wait for a queue.
func thousandThreads() {
  let queue = DispatchQueue(label: "stuck")
  let begun = DispatchSemaphore(value: 0)
  queue.async {
    begun.signal()
    while true { pause() }
  }
  begun.wait()
  for _ in 0..<1000 { startThread { queue.sync {} } }
}

/// 10,000 queues that have run an item each, and a thousand threads that wait for another one.
let crowdedQueues = (0..<10_000).map { DispatchQueue(label: "crowd.\($0)") }

func crowd() {
  let done = DispatchGroup()
  for queue in crowdedQueues { queue.async(group: done) {} }
  done.wait()
  thousandThreads()
}

/// Twelve requests that share two connections, which an error path does not give back.
func exhaustedPool() {
  let connections = DispatchSemaphore(value: 2)
  let requests = DispatchQueue(label: "requests", attributes: .concurrent)
  for _ in 0..<12 { requests.async { connections.wait() } }
}

/// An item of a queue waits for a condition that no thread signals.
func lockedItem() {
  DispatchQueue(label: "imports").async {
    let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    pthread_mutex_init(lock, nil)
    pthread_cond_init(condition, nil)
    pthread_mutex_lock(lock)
    while true { pthread_cond_wait(condition, lock) }
  }
}

/// Two items wait for each other's queues. One of these queues has an item that waits for its
/// target, in which the other item is.
func deadlockBehindTarget() {
  let base = DispatchQueue(label: "base")
  let upper = DispatchQueue(label: "upper", target: base)
  let lower = DispatchQueue(label: "lower", target: base)
  let other = DispatchQueue(label: "other")
  let begun = DispatchSemaphore(value: 0)
  let entered = DispatchSemaphore(value: 0)
  lower.async {
    begun.signal()
    entered.wait()
    other.sync {}
  }
  begun.wait()
  other.async {
    upper.async {}
    entered.signal()
    upper.sync {}
  }
}

/// A reader of a queue waits for an item, which waits to enter that queue alone. Another reader
/// sleeps.
func deadlockOfBarrier() {
  let shared = DispatchQueue(label: "shared", attributes: .concurrent)
  let other = DispatchQueue(label: "other")
  let (inside, asked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
  let item = DispatchWorkItem {
    asked.wait()
    shared.sync(flags: .barrier) {}
  }
  other.async(execute: item)
  shared.async {
    inside.signal()
    while true { pause() }
  }
  inside.wait()
  shared.async {
    asked.signal()
    item.wait()
  }
}

/// A thread that has entered a queue waits for its target. An item of the target waits for another
/// item, which waits for the first queue.
func deadlockBelowTarget() {
  let lower = DispatchQueue(label: "lower")
  let upper = DispatchQueue(label: "upper", target: lower)
  let other = DispatchQueue(label: "other")
  let (inside, entered) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
  let item = DispatchWorkItem {
    entered.wait()
    upper.sync {}
  }
  other.async(execute: item)
  lower.async {
    inside.signal()
    item.wait()
  }
  inside.wait()
  startThread { upper.sync {} }
  // The thread sleeps for the target, and so has entered the upper queue.
  while !DispatchSnapshot().threads.contains(where: { $0.activity == .waiting && !$0.isWorker }) {
    usleep(1000)
  }
  entered.signal()
}

/// Closes each descriptor beyond the first three, as a daemon does, with that of the board.
func closeDescriptors() {
  for descriptor in Int32(3)..<1024 { close(descriptor) }
}

/// Uses the engine, and replaces the program by one that hangs.
func replaceProgram(by scene: String) {
  DispatchQueue(label: "before exec").async { while true { pause() } }
  DispatchQueue.global().sync {}
  var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("HangProbe"), strdup(scene), nil]
  execv("/proc/self/exe", &arguments)
  exit(71)
}

/// Hangs in a forked child, whose parent has a board and does not hang.
func forkHanging() {
  DispatchQueue(label: "of the parent").async {}
  DispatchQueue.global().sync {}
  if faults_fork() == 0 { return blocked() }
  var state: Int32 = 0
  while wait(&state) < 0 && errno == EINTR {}
  exit(0)
}

/// More items than there may be threads wait for a semaphore.
func explosion() {
  let never = DispatchSemaphore(value: 0)
  let queue = DispatchQueue(label: "flood", attributes: .concurrent)
  for _ in 0..<80 { queue.async { never.wait() } }
}

/// Kept, since a queue that ends while it is suspended stops the process.
let asleep = DispatchQueue(label: "asleep")

func forgottenResume() {
  asleep.suspend()
  for _ in 0..<3 { asleep.async {} }
}

/// Work that ends, again and again, and idle threads.
func healthy() {
  let queue = DispatchQueue(label: "busy")
  let shared = DispatchQueue(label: "shared", attributes: .concurrent)
  DispatchQueue.global().async {
    while true {
      queue.sync {}
      shared.sync(flags: .barrier) {}
      let group = DispatchGroup()
      for _ in 0..<8 { shared.async(group: group) { queue.sync {} } }
      group.wait()
      usleep(100)
    }
  }
}

/// Work that ends. Then no thread has any.
func idle() {
  let group = DispatchGroup()
  for _ in 0..<100 { DispatchQueue.global().async(group: group) {} }
  group.wait()
}

/// An item of a global queue sleeps in the kernel, and no thread waits.
func blockedOnGlobalQueue() {
  let begun = DispatchSemaphore(value: 0)
  DispatchQueue.global().async {
    begun.signal()
    while true { pause() }
  }
  begun.wait()
}

/// An item sleeps in the kernel, and others are behind it in its queue.
func queueWorkBehindSleeper() {
  let imports = DispatchQueue(label: "imports")
  let begun = DispatchSemaphore(value: 0)
  imports.async {
    begun.signal()
    while true { pause() }
  }
  for _ in 0..<3 { imports.async {} }
  begun.wait()
}

/// The third item of a queue sleeps in the kernel, and a thread submits more behind it.
func stopAtThirdItem() {
  let queue = DispatchQueue(label: "third")
  let begun = DispatchSemaphore(value: 0)
  // All are submitted before the first one runs, so one thread runs them in one go.
  queue.suspend()
  for _ in 0..<2 { queue.async {} }
  queue.async {
    begun.signal()
    while true { pause() }
  }
  queue.resume()
  begun.wait()
  startThread {
    while true {
      queue.async {}
      usleep(1000)
    }
  }
}

/// A thread waits for a semaphore, and another one computes.
func waitBesideWork() {
  startThread { DispatchSemaphore(value: 0).wait() }
  DispatchQueue.global().async { while true {} }
}

@main enum HangProbe {
  static func main() {
    lookAtItself(CommandLine.arguments.dropFirst(2).first)
    switch CommandLine.arguments.dropFirst().first {
    case "deadlock": deadlock()
    case "blocked": blocked()
    case "blocked-on-global-queue": blockedOnGlobalQueue()
    case "blocked-by-group": blockedByGroup()
    case "explosion": explosion()
    case "forgotten-resume": forgottenResume()
    case "blocked-by-semaphore": blocked { DispatchSemaphore(value: 0).wait() }
    case "blocked-by-item": blocked { DispatchWorkItem {}.wait() }
    case "deadlock-of-sync": deadlockOfSync()
    case "forgotten-leave": forgottenLeave()
    case "work-behind-wait": waitForWorkBehind()
    case "work-behind-sleeper": queueWorkBehindSleeper()
    case "third-item": stopAtThirdItem()
    case "wait-beside-work": waitBesideWork()
    case "thousand-threads": thousandThreads()
    case "crowd": crowd()
    case "exhausted-pool": exhaustedPool()
    case "kept-alive": keptAlive()
    case "kept-alive-by-thread": keptAliveByThread()
    case "deadlock-of-barrier": deadlockOfBarrier()
    case "deadlock-below-target": deadlockBelowTarget()
    case "wait-on-main-thread": waitOnMainThread()
    case "locked-item": lockedItem()
    case "undrained-main-queue": undrainedMainQueue()
    case "main-queue-behind-wait": waitOnMainThreadForMainQueue()
    case "drained-main-queue": drainedMainQueue()
    case "deadlock-behind-target": deadlockBehindTarget()
    case "closed-descriptors":
      blocked()
      closeDescriptors()
    case "exec": replaceProgram(by: "blocked")
    case "fork": forkHanging()
    case "timer-on-main": serveTimer()
    case "source-on-main": serve(DispatchSource.makeUserDataAddSource(queue: .main))
    case "timer-on-queue": armTimer()
    case "notified-group": notifyOfGroup()
    case "awaited-group": awaitGroup()
    case "notified-group-beside-timer":
      heartbeat.schedule(deadline: .now() + 3600)
      heartbeat.setEventHandler {}
      heartbeat.resume()
      notifyOfGroup()
    case "left-groups": notifyOfGroups()
    case "healthy": healthy()
    case "idle": idle()
    case "nothing": break
    default: exit(64)
    }
    announceAndWait()
  }
}
