// Signal sources: contract rows S1, S4, S5, S8. Each test uses a signal of its own, which the test
// runner does not use.
import CFaults
import Glibc
import GrandCentral
import TestSupport
import Testing

@Suite("A signal source") struct SignalSourceTests {
  private let queue = DispatchQueue(label: "signals")

  /// Activates the source; returns when deliveries are counted.
  private func start(_ source: any DispatchSourceProtocol) {
    let isRegistered = Latch()
    source.setRegistrationHandler { isRegistered.open() }
    source.activate()
    #expect(isRegistered.wait())
  }

  /// Makes an active source with a counter of the deliveries that its handler received.
  private func counting(
    _ number: Int32, on queue: DispatchQueue
  ) -> (source: any DispatchSourceSignal, heard: Counter) {
    let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
    let heard = Counter()
    source.setEventHandler { heard.add(Int(source.data)) }
    start(source)
    return (source, heard)
  }

  private func cancelAndWait(_ source: any DispatchSourceProtocol) {
    let done = Latch()
    source.setCancelHandler { done.open() }
    source.cancel()
    #expect(done.wait())
  }

  @Test func `reports a signal that the program ignores`() {
    signal(SIGUSR1, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGUSR1, queue: queue)
    let log = Log<UInt>()
    source.setEventHandler { log.append(source.data) }
    start(source)
    signalProcess(SIGUSR1)
    #expect(log.waitForCount(1))
    #expect(log.all == [1])
    #expect(source.handle == UInt(SIGUSR1))
    cancelAndWait(source)
    #expect(faults_action_of(SIGUSR1) == FAULTS_IGNORED)
  }

  @Test func `reports it whichever thread the kernel delivers it to`() {
    let (source, heard) = counting(40, on: queue)
    let arrived = Latch(8)
    let isOver = Latch()
    let receivers = (0..<4).map { _ in
      TestThread("receiver") {
        unblockSignals()
        raise(40)
        pthread_kill(pthread_self(), 40)
        arrived.open()
        _ = isOver.wait()
      }
    }
    for _ in 0..<4 {
      DispatchQueue.global().async {
        unblockSignals()
        raise(40)
        arrived.open()
      }
    }
    #expect(arrived.wait())
    for _ in 0..<3 { signalProcess(40) }
    #expect(heard.waitForValue(4 * 2 + 4 + 3))
    isOver.open()
    #expect(receivers.allSatisfy { $0.join() })
    settle()
    #expect(heard.value == 4 * 2 + 4 + 3)
    cancelAndWait(source)
  }

  /// Under the thread sanitizer, a thread that sleeps in a bare system call would not count it.
  @Test func `reports it when the thread that receives it sleeps in the engine`() {
    let (source, heard) = counting(57, on: queue)
    let semaphore = DispatchSemaphore(value: 0)
    let (id, handle) = (Box(0), Box(pthread_t()))
    let sleeper = TestThread("sleeper") {
      unblockSignals()
      handle.value = pthread_self()
      id.value = threadID()
      semaphore.wait()
    }
    #expect(eventually { processThreads().contains { $0.id == id.value && $0.isAsleep } })
    for count in 1...3 {
      pthread_kill(handle.value, 57)
      #expect(heard.waitForValue(count))
    }
    semaphore.signal()
    #expect(sleeper.join())
    cancelAndWait(source)
  }

  @Test func `counts every delivery of a storm, in each of several sources`() {
    let queues = (0..<3).map { DispatchQueue(label: "signals.\($0)") }
    let all = queues.map { counting(41, on: $0) }
    let each = stressed(5000)
    let isSent = onThreads(4) { _ in
      unblockSignals()
      for value in 0..<each {
        while faults_queue(41, Int32(value % 7)) == EAGAIN { sched_yield() }
      }
    }
    #expect(isSent)
    // The thread sanitizer delays signals, and merges pending signals of one number.
    let least = faults_is_thread_sanitized() ? 1 : 4 * each
    for (_, heard) in all { #expect(heard.waitForValue(least)) }
    settle()
    for (source, heard) in all {
      #expect(heard.value <= 4 * each)
      cancelAndWait(source)
    }
  }

  @Test func `that is suspended delivers once on resume`() {
    let source = DispatchSource.makeSignalSource(signal: 42, queue: queue)
    let log = Log<UInt>()
    source.setEventHandler { log.append(source.data) }
    start(source)
    source.suspend()
    queue.sync {}
    let raiser = TestThread("raiser") {
      unblockSignals()
      for _ in 0..<5 { raise(42) }
    }
    #expect(raiser.join())
    settle()
    #expect(log.count == 0)
    source.resume()
    #expect(log.waitForCount(1))
    settle()
    #expect(log.all.reduce(0, +) == 5)
    cancelAndWait(source)
  }

  @Test(arguments: [FAULTS_DEFAULT, FAULTS_IGNORED, FAULTS_COUNTED, FAULTS_COUNTED_WITH_VALUE])
  func `leaves the signal's action as it found it`(_ action: faults_action) {
    let number = 43 + Int32(action.rawValue)
    #expect(faults_set_action(number, action, SA_NODEFER) == 0)
    let flags = faults_action_flags(number)
    let (first, heard) = counting(number, on: queue)
    let (second, _) = counting(number, on: queue)
    #expect(faults_action_of(number) == FAULTS_OTHER)
    cancelAndWait(first)
    #expect(faults_action_of(number) == FAULTS_OTHER)
    cancelAndWait(second)
    #expect(faults_action_of(number) == action)
    #expect(faults_action_flags(number) == flags)
    #expect(heard.value == 0)
  }

  @Test func `touches no action before it is activated`() {
    #expect(faults_set_action(47, FAULTS_COUNTED, 0) == 0)
    let source = DispatchSource.makeSignalSource(signal: 47, queue: queue)
    #expect(faults_action_of(47) == FAULTS_COUNTED)
    let done = Latch()
    source.setCancelHandler { done.open() }
    source.cancel()
    source.activate()
    #expect(done.wait())
    #expect(faults_action_of(47) == FAULTS_COUNTED)
  }

  @Test func `without a reference leaves the action as it found it`() {
    #expect(faults_set_action(49, FAULTS_IGNORED, 0) == 0)
    let gone = Latch()
    do {
      let source = DispatchSource.makeSignalSource(signal: 49, queue: queue)
      let witness = Witness { gone.open() }
      source.setEventHandler { _ = witness }
      start(source)
    }
    #expect(gone.wait())
    #expect(eventually { faults_action_of(49) == FAULTS_IGNORED })
  }

  @Test func `runs the program's own handler too, with the signal's information`() {
    #expect(faults_set_action(50, FAULTS_COUNTED_WITH_VALUE, SA_RESTART) == 0)
    let (source, heard) = counting(50, on: queue)
    let sender = TestThread("sender") {
      unblockSignals()
      for value in 1...10 { _ = faults_queue(50, Int32(value)) }
    }
    #expect(sender.join())
    #expect(heard.waitForValue(faults_is_thread_sanitized() ? 1 : 10))
    #expect(eventually { faults_deliveries(50) == heard.value })
    if !faults_is_thread_sanitized() { #expect(faults_values(50) == 55) }
    cancelAndWait(source)
  }

  @Test func `runs a one-shot handler once`() {
    #expect(faults_set_action(51, FAULTS_COUNTED, Int32(bitPattern: UInt32(SA_RESETHAND))) == 0)
    let (source, heard) = counting(51, on: queue)
    for round in 1...3 {
      signalProcess(51)
      #expect(heard.waitForValue(round))
    }
    #expect(faults_deliveries(51) == 1)
    cancelAndWait(source)
    #expect(faults_action_of(51) == FAULTS_DEFAULT)
  }

  @Test func `leaves a handler alone that the program installs later`() {
    let (source, heard) = counting(52, on: queue)
    #expect(faults_set_action(52, FAULTS_COUNTED, 0) == 0)
    signalProcess(52)
    #expect(eventually { faults_deliveries(52) == 1 })
    cancelAndWait(source)
    #expect(faults_action_of(52) == FAULTS_COUNTED)
    #expect(heard.value == 0)
    // A new source installs its handler above the program's.
    let (again, heardAgain) = counting(52, on: queue)
    signalProcess(52)
    #expect(heardAgain.waitForValue(1))
    #expect(eventually { faults_deliveries(52) == 2 })
    cancelAndWait(again)
    #expect(faults_action_of(52) == FAULTS_COUNTED)
  }

  @Test func `works again above a handler that passes signals on to it`() {
    let (source, heard) = counting(53, on: queue)
    #expect(faults_set_action(53, FAULTS_PASSED_ON, 0) == 0)
    signalProcess(53)
    #expect(heard.waitForValue(1))
    cancelAndWait(source)
    for round in 1...3 {
      let (again, heardAgain) = counting(53, on: queue)
      signalProcess(53)
      #expect(heardAgain.waitForValue(1))
      #expect(eventually { faults_deliveries(53) == 1 + round })
      settle()
      #expect(heardAgain.value == 1)
      cancelAndWait(again)
      #expect(faults_action_of(53) == FAULTS_PASSED_ON)
    }
    #expect(heard.value == 1)
  }

  @Test func `leaves a forked child the program's actions`() {
    #expect(faults_set_action(54, FAULTS_DEFAULT, 0) == 0)
    #expect(faults_set_action(55, FAULTS_IGNORED, 0) == 0)
    let (first, heardFirst) = counting(54, on: queue)
    let (second, heardSecond) = counting(55, on: queue)
    let statuses = Log<Int32>()
    let thread = TestThread("forks") {
      unblockSignals()
      for number: Int32 in [54, 55] {
        statuses.append(faults_fork_and_raise(number, Int32(deadlineSeconds / 4)))
      }
    }
    #expect(thread.join())
    // The thread sanitizer would deliver the signal only after the child's end.
    #expect(statuses.all == (faults_is_thread_sanitized() ? [0, 0] : [54, 0]))
    settle()
    #expect(heardFirst.value == 0 && heardSecond.value == 0)
    cancelAndWait(first)
    cancelAndWait(second)
  }

  @Test func `never runs after its cancel handler, while signals arrive`() {
    let seeds = SeededGenerator(for: "sources made and cancelled among signals")
    let rounds = stressed(150)
    let isOver = Box(false)
    #expect(faults_set_action(56, FAULTS_IGNORED, 0) == 0)
    let storm = TestThread("storm") {
      unblockSignals()
      while !isOver.value { _ = faults_queue(56, 1) }
    }
    let late = Counter()
    let cancelled = Latch(3 * rounds)
    // Three threads make and cancel sources, so the signal's first and last source often change.
    let areMade = onThreads(3) { number in
      var random = SeededGenerator(seed: seeds.seed &+ UInt64(number))
      for _ in 0..<rounds { makeAndCancel(random.next(), late: late, cancelled: cancelled) }
    }
    #expect(areMade && cancelled.wait())
    isOver.value = true
    #expect(storm.join())
    #expect(late.value == 0)
    #expect(faults_action_of(56) == FAULTS_IGNORED)
  }

  private func makeAndCancel(_ draw: UInt64, late: Counter, cancelled: Latch) {
    let source = DispatchSource.makeSignalSource(signal: 56, queue: queue)
    let isCancelled = Box(false)
    source.setEventHandler { if isCancelled.value { late.add() } }
    source.setCancelHandler {
      isCancelled.value = true
      cancelled.open()
    }
    source.activate()
    for _ in 0..<draw % 8 { queue.sync {} }
    if draw >> 8 % 4 == 0 {
      source.suspend()
      source.cancel()
      source.resume()
    } else {
      source.cancel()
    }
  }

  @Test(.disabled(if: faults_is_thread_sanitized(), "the thread sanitizer merges signals"))
  func `counts signals that every thread of the program blocks`() {
    let result = runProbe("PoolProbe", "blocked-source")
    #expect(result.number("counted") == 200, "\(result.errors)")
  }

  @Test(.disabled(if: faults_is_sanitized(), "sanitizers have their own functions for children"))
  func `leaves children of workers a clean mask`() {
    let result = runProbe("PoolProbe", "signal-source")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.value("blocked").flatMap { UInt64($0, radix: 16) } == 0)
  }

  @Test func `reports signals that came while no descriptor was free`() async {
    await #expect(processExitsWith: .success) { waitWithoutDescriptors() }
  }

  @Test func `discards a signal that is still on its way when it ends`() async {
    await #expect(processExitsWith: .success) { endBeforeDelivery() }
  }

  @Test func `lets a thread's own fault end the process`() async {
    await #expect(processExitsWith: .signal(SIGSEGV)) {
      signal(SIGSEGV, SIG_DFL)
      let source = DispatchSource.makeSignalSource(signal: SIGSEGV)
      let isRegistered = Latch()
      source.setRegistrationHandler { isRegistered.open() }
      source.activate()
      guard isRegistered.wait() else { return }
      faults_touch_nothing()
    }
  }

  @Test(arguments: [SIGKILL, SIGSTOP, 0, -1, 32, 65])
  func `for an unobservable signal stops the process and names the fix`(_ number: Int32) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [number] in
      _ = DispatchSource.makeSignalSource(signal: number)
    }
    expectReport(result, names: ["signal \(number)"], says: ["watch|take|pass"])
  }
}

/// Runs a source from start to end, without any free descriptor until a signal has arrived.
private func waitWithoutDescriptors() {
  let isRegistered = Latch()
  let heard = Counter()
  signal(SIGUSR2, SIG_IGN)
  let source = DispatchSource.makeSignalSource(signal: SIGUSR2, queue: DispatchQueue(label: "x"))
  source.setRegistrationHandler { isRegistered.open() }
  source.setEventHandler { heard.add(Int(source.data)) }
  under(.noDescriptors) {
    source.activate()
    guard isRegistered.wait() else { exit(1) }
    signalProcess(SIGUSR2)
    guard heard.waitForValue(1) else { exit(2) }
  }
  signalProcess(SIGUSR2)
  guard heard.waitForValue(2) else { exit(3) }
}

/// Ends a source while a signal that came before is pending, because its thread blocks it. Then the
/// thread takes signals again, whose default action stops the process.
private func endBeforeDelivery() {
  let (isRegistered, isCancelled) = (Latch(), Latch())
  signal(SIGUSR2, SIG_DFL)
  let source = DispatchSource.makeSignalSource(signal: SIGUSR2, queue: DispatchQueue(label: "x"))
  source.setRegistrationHandler { isRegistered.open() }
  source.setCancelHandler { isCancelled.open() }
  source.activate()
  guard isRegistered.wait() else { exit(1) }
  var blocked = sigset_t()
  sigemptyset(&blocked)
  sigaddset(&blocked, SIGUSR2)
  pthread_sigmask(SIG_BLOCK, &blocked, nil)
  pthread_kill(pthread_self(), SIGUSR2)
  source.cancel()
  guard isCancelled.wait() else { exit(2) }
  pthread_sigmask(SIG_UNBLOCK, &blocked, nil)
  // The earlier action is back.
  if faults_action_of(SIGUSR2) != FAULTS_DEFAULT { exit(3) }
}
