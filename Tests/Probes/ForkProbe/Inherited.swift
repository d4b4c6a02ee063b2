// Forks with state of the parent: queues, timers, sources, channels that the child inherits.
import CFaults
import Glibc
import GrandCentral
@_spi(RunLoop) import GrandCentralCore
import TestSupport

/// Many threads use queues while one thread forks; the child uses the same queues.
func underLoad(_ words: [String]) {
  var random = SeededGenerator(for: "fork under load")
  let serial = (0..<4).map { DispatchQueue(label: "serial.\($0)") }
  let concurrent = (0..<3).map { DispatchQueue(label: "concurrent.\($0)", attributes: .concurrent) }
  let led = (0..<3).map { DispatchQueue(label: "led.\($0)", target: serial[$0]) }
  let all = serial + concurrent + led
  let (stop, steps) = (Counter(), Counter())
  let threads = (0..<4).map { _ in
    let generator = random.split()
    return TestThread("load") {
      var own = generator
      while stop.value == 0 {
        oneStep(all, &own)
        steps.add()
      }
    }
  }
  // By now no thread uses anything for the first time.
  check(steps.waitForValue(stressed(1000)), "the parent's threads are busy")
  for round in 0..<stressed(60) {
    fork("round \(round)") {
      let done = Latch(2 * all.count)
      for queue in all {
        queue.async { done.open() }
        queue.async(flags: .barrier) { done.open() }
      }
      for queue in all { queue.sync {} }
      for queue in all { queue.sync(flags: .barrier) {} }
      check(done.wait(), "all queues run")
      if round % 10 == 0 { useEverything() }
    }
  }
  stop.add()
  check(threads.allSatisfy { $0.join() }, "the parent's threads end")
  for queue in all { queue.sync(flags: .barrier) {} }
  parentContinues()
}

private func oneStep(_ queues: [DispatchQueue], _ random: inout SeededGenerator) {
  let queue = queues[Int.random(in: 0..<queues.count, using: &random)]
  switch Int.random(in: 0..<9, using: &random) {
  case 0: queue.sync {}
  case 1: queue.sync(flags: .barrier) {}
  case 2: queue.async(flags: .barrier, execute: failInChild)
  case 3:
    DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(50), execute: failInChild)
  case 4:
    let group = DispatchGroup()
    queue.async(group: group, execute: failInChild)
    group.wait()
  case 5: DispatchQueue(label: "short").async(execute: failInChild)
  case 6:
    // A queue of its own: a child could not know that a shared one is suspended, nor resume it.
    let short = DispatchQueue(label: "suspended", target: queue)
    short.suspend()
    short.async(execute: failInChild)
    short.resume()
  default:
    // Each thread waits for every such item, or the queued items would fill the memory.
    queue.async(execute: failInChild)
    queue.sync {}
  }
}

func queuedWork(_ words: [String]) {
  let queue = DispatchQueue(label: "busy")
  let begun = Latch()
  let go = Latch()
  let ran = Counter()
  queue.async {
    begun.open()
    _ = go.wait()
  }
  for _ in 0..<10 {
    queue.async {
      failInChild()
      ran.add()
    }
  }
  let inactive = DispatchQueue(label: "inactive", attributes: .initiallyInactive)
  inactive.async {
    failInChild()
    ran.add()
  }
  check(begun.wait(), "the queue is busy")
  fork("with work queued") {
    check(queue.sync { 5 } == 5, "the queue is idle")
    inactive.activate()
    check(inactive.sync { 6 } == 6, "an inactive queue can be activated")
  }
  go.open()
  inactive.activate()
  queue.sync {}
  inactive.sync {}
  check(ran.value == 11, "the parent ran all of it, once: \(ran.value)")
}

func suspendedQueue(_ words: [String]) {
  let queue = DispatchQueue(label: "suspended")
  queue.suspend()
  queue.async(execute: failInChild)
  fork("with a queue suspended") {
    let ran = Latch()
    queue.async { ran.open() }
    DispatchQueue(label: "other").sync {}
    check(!ran.isOpen, "it is still suspended")
    queue.resume()
    check(ran.wait(), "and continues when it is resumed")
  }
  queue.resume()
  queue.sync {}
}

func laterWork(_ words: [String]) {
  let ran = Latch(2)
  for deadline in [5, 10] {
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(deadline)) {
      failInChild()
      ran.open()
    }
  }
  fork("with work for later") {
    let later = Latch()
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) { later.open() }
    check(later.wait(), "its own runs")
  }
  check(ran.wait(), "the parent's runs there")
}

func armedTimers(_ words: [String]) {
  let fired = Log<pid_t>()
  let timer = DispatchSource.makeTimerSource()
  timer.setEventHandler { [fired] in
    failInChild()
    fired.append(getpid())
  }
  timer.schedule(deadline: .now() + .milliseconds(5), repeating: .milliseconds(5))
  timer.activate()
  check(fired.waitForCount(1), "it fires")
  fork("with a timer armed") {
    let again = Latch(2)
    useEvents()
    timer.setEventHandler { again.open() }
    // Later than what the parent's timers held.
    timer.schedule(deadline: .now() + .milliseconds(20), repeating: .milliseconds(1))
    check(again.wait(), "it fires when it is rescheduled")
    let ended = Latch()
    timer.setCancelHandler { ended.open() }
    timer.cancel()
    check(ended.wait(), "and can be cancelled")
  }
  let before = fired.count
  check(fired.waitForCount(before + 3), "it continues in the parent")
  timer.cancel()
  forkBesideHandler()
}

/// A cancel handler that is queued at the fork runs in the parent alone.
func cancelledTimers(_ words: [String]) {
  let queue = DispatchQueue(label: "cancels")
  let ended = Latch(3)
  let timers = (0..<3).map { _ in DispatchSource.makeTimerSource(queue: queue) }
  for timer in timers {
    timer.setCancelHandler {
      failInChild()
      ended.open()
    }
    timer.schedule(deadline: .now())
  }
  // One is suspended, and one was never active.
  timers[0].activate()
  timers[0].suspend()
  for timer in timers.prefix(2) { timer.cancel() }
  fork("with two timers cancelled") {
    timers[0].resume()
    timers[1].activate()
    // What a timer's lane sends to its queue runs before the second closure at the latest.
    for _ in 0..<2 { queue.sync {} }
    check(true, "their handlers did not run")
  }
  timers[0].resume()
  timers[1].activate()
  // One cancels itself, and forks.
  timers[2].setEventHandler {
    timers[2].cancel()
    let child = faults_fork()
    if child == 0 {
      beginChild()
      // The first item of the child is ahead of what the timer sends next, the second behind it.
      return queue.async { queue.async { finish() } }
    }
    expectEnd(of: child, "a child of a timer's last event")
  }
  timers[2].activate()
  check(ended.wait(), "the parent ran each handler")
}

/// Forks while another thread runs a timer's handler. The child can use the timer all the same.
private func forkBesideHandler() {
  let (inside, go) = (Latch(), Latch())
  let timer = DispatchSource.makeTimerSource()
  timer.setEventHandler {
    inside.open()
    _ = go.wait()
  }
  timer.schedule(deadline: .now())
  timer.activate()
  check(inside.wait(), "its handler runs")
  fork("beside a timer's handler") {
    let again = Latch(2)
    timer.setEventHandler { again.open() }
    timer.schedule(deadline: .now(), repeating: .milliseconds(1))
    check(again.wait(), "the timer fires")
  }
  go.open()
  timer.cancel()
}

func watchedDescriptors(_ words: [String]) {
  let pipe = DescriptorPair.pipe()
  let heard = Counter()
  let source = DispatchSource.makeReadSource(fileDescriptor: pipe.input)
  source.setEventHandler {
    failInChild()
    heard.add(readBytes(pipe.input, atMost: 100))
  }
  source.activate()
  writeBytes(pipe.output, 1)
  check(heard.waitForValue(1), "it is reported")
  fork("with a descriptor watched") {
    let own = DescriptorPair.pipe()
    check(hears(own), "another is reported")
    let ended = Latch()
    source.setCancelHandler { ended.open() }
    source.cancel()
    check(ended.wait(), "the source of before can be cancelled")
  }
  writeBytes(pipe.output, 2)
  check(heard.waitForValue(3), "it is still reported in the parent")
  let other = DescriptorPair.pipe()
  let quiet = DispatchSource.makeReadSource(fileDescriptor: other.input)
  quiet.setEventHandler(handler: failInChild)
  quiet.activate()
  fork("on the same descriptor") {
    check(hears(other), "a new source gets events")
  }
  let ended = Latch(2)
  for source in [source, quiet] {
    source.setCancelHandler { ended.open() }
    source.cancel()
  }
  check(ended.wait(), "both end")
}

func watchedSignals(_ words: [String]) {
  signal(SIGUSR1, SIG_IGN)
  let heard = Latch()
  let source = DispatchSource.makeSignalSource(signal: SIGUSR1)
  source.setEventHandler {
    failInChild()
    heard.open()
  }
  source.activate()
  fork("with a signal watched") {
    raise(SIGUSR1)
    let own = Latch()
    let other = DispatchSource.makeSignalSource(signal: SIGUSR1)
    other.setEventHandler { own.open() }
    other.activate()
    raise(SIGUSR1)
    check(own.wait(), "a source of its own gets events")
    other.cancel()
  }
  raise(SIGUSR1)
  check(heard.wait(), "the parent still gets it")
  source.cancel()
}

func userData(_ words: [String]) {
  let source = DispatchSource.makeUserDataAddSource()
  let sum = Counter()
  source.setEventHandler { sum.add(Int(source.data)) }
  source.activate()
  source.add(data: 3)
  check(sum.waitForValue(3), "it gets the parent's data")
  fork("with a source of user data") {
    let own = Counter()
    source.setEventHandler { own.add(Int(source.data)) }
    source.add(data: 4)
    check(own.waitForValue(4), "it gets what the child merges")
  }
  source.add(data: 5)
  check(sum.waitForValue(8), "and the parent what it does")
  source.cancel()
}

func openChannels(_ words: [String]) {
  let pipe = DescriptorPair.pipe()
  let got = Latch()
  let closed = Latch()
  let channel = DispatchIO(type: .stream, fileDescriptor: pipe.input, queue: .global()) { _ in
    failInChild()
    closed.open()
  }
  channel.read(offset: 0, length: 5, queue: .global()) { isDone, data, error in
    failInChild()
    if isDone && error == 0 { got.open() }
  }
  check(canTransferFile(), "files can be read")
  // Closed, but its cleanup handler waits for the other channel.
  let left = Latch()
  let leaver = Box<DispatchIO?>(
    DispatchIO(type: .stream, io: channel, queue: .global()) { [witness = Witness(failInChild)] _ in
      withExtendedLifetime(witness, failInChild)
      left.open()
    })
  leaver.value?.close()
  fork("with a channel open") {
    let cleaned = Latch()
    // The child's first use of the channel.
    let second = DispatchIO(type: .stream, io: channel, queue: .global()) { error in
      if error == ECANCELED { cleaned.open() }
    }
    second.close()
    check(cleaned.wait(), "a channel made from it fails with ECANCELED")
    // The parent's closure stays in memory.
    leaver.value = nil
    let refused = Latch()
    channel.read(offset: 0, length: 5, queue: .global()) { isDone, _, error in
      if isDone && error == ECANCELED { refused.open() }
    }
    check(refused.wait(), "what it is asked for ends with ECANCELED")
    channel.close()
    useChannels()
  }
  writeBytes(pipe.output, 5)
  check(got.wait(), "the parent reads what it asked for")
  channel.close()
  check(closed.wait() && left.wait(), "and closes it")
  parentContinues()
}

func runLoopDescriptor(_ words: [String]) {
  let descriptor = MainQueueRunLoop.descriptor()
  fork("with a run loop's descriptor") {
    DispatchQueue.main.async {}
    let ready = ReadinessNow.isReadable(descriptor)
    check(ready, "the child's own shows its work")
    MainQueueRunLoop.drain()
  }
  check(!ReadinessNow.isReadable(descriptor), "and the parent's does not")
}
