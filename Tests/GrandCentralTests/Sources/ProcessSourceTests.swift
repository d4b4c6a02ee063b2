// Process sources: contract row S1, and rows S3 to S5 as they apply.
import CFaults
import Glibc
import GrandCentral
import TestSupport
import Testing

@Suite("A process source") struct ProcessSourceTests {
  private let queue = DispatchQueue(label: "processes")

  private func cancelAndWait(_ source: any DispatchSourceProtocol) {
    let done = Latch()
    source.setCancelHandler { done.open() }
    source.cancel()
    #expect(done.wait())
  }

  /// Makes an active source with a log of the data that its handler receives.
  private func watching(
    _ process: pid_t, _ mask: DispatchSource.ProcessEvent = .exit
  ) -> (source: any DispatchSourceProcess, log: Log<UInt>) {
    let source = DispatchSource.makeProcessSource(
      identifier: process, eventMask: mask, queue: queue)
    let log = Log<UInt>()
    source.setEventHandler {
      let event: DispatchSource.ProcessEvent = source.data
      log.append(event.rawValue)
    }
    source.activate()
    return (source, log)
  }

  private let exit = DispatchSource.ProcessEvent.exit.rawValue

  @Test func `reports a child's exit, and leaves its status to be waited for`() {
    let child = startChild(["sh", "-c", "exit 7"])
    let source = DispatchSource.makeProcessSource(
      identifier: child, eventMask: .exit, queue: queue)
    let statuses = Log<Int32>()
    source.setEventHandler { statuses.append(waitFor(child).status ?? -1) }
    source.activate()
    #expect(statuses.waitForCount(1))
    settle()
    #expect(statuses.all == [7])
    cancelAndWait(source)
  }

  @Test func `reports that a signal ended a child`() {
    let child = startChild(["sleep", "1000"])
    let (source, log) = watching(child)
    settle()
    #expect(log.count == 0)
    kill(child, SIGTERM)
    #expect(log.waitForCount(1))
    #expect(log.all == [exit])
    #expect(waitFor(child).signal == SIGTERM)
    cancelAndWait(source)
  }

  @Test func `has its properties with their own types and as numbers`() {
    let child = startChild(["true"])
    let source = DispatchSource.makeProcessSource(
      identifier: child, eventMask: [.exit, .fork], queue: queue)
    let log = Log<Bool>()
    source.setEventHandler {
      let event: DispatchSource.ProcessEvent = source.data
      let number: UInt = source.data
      log.append(event.contains(.exit) && number == event.rawValue)
    }
    #expect(source.handle == child)
    #expect(source.mask == [.exit, .fork])
    let plain: any DispatchSourceProtocol = source
    #expect(plain.handle == UInt(child))
    #expect(plain.mask == 0xc000_0000)
    source.activate()
    #expect(log.waitForCount(1))
    #expect(log.all.allSatisfy { $0 })
    #expect(waitFor(child).status == 0)
    cancelAndWait(source)
  }

  @Test func `has Darwin's numbers`() {
    typealias Event = DispatchSource.ProcessEvent
    #expect(Event.exit.rawValue == 0x8000_0000)
    #expect(Event.fork.rawValue == 0x4000_0000)
    #expect(Event.exec.rawValue == 0x2000_0000)
    #expect(Event.signal.rawValue == 0x0800_0000)
    #expect(Event.all == [.exit, .fork, .exec, .signal])
  }

  @Test func `reports at once a process that is gone`() {
    let child = startChild(["true"])
    #expect(waitFor(child).status == 0)
    let (source, log) = watching(child)
    #expect(log.waitForCount(1))
    settle()
    #expect(log.all == [exit])
    cancelAndWait(source)
  }

  @Test func `reports at once a child that has exited and was not waited for`() {
    let child = startChild(["sh", "-c", "exit 3"])
    #expect(faults_has_exited(child))
    let (source, log) = watching(child)
    #expect(log.waitForCount(1))
    #expect(log.all == [exit])
    #expect(waitFor(child).status == 3)
    cancelAndWait(source)
  }

  @Test func `reports the exit of a process that is not a child`() throws {
    let ends = DescriptorPair.pipe()
    _ = fcntl(ends.input, F_SETFL, 0)
    let shell = startChild(
      ["sh", "-c", "sleep 1000 >/dev/null & echo $!"], output: ends.output)
    #expect(waitFor(shell).status == 0)
    close(ends.output)
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = read(ends.input, &bytes, bytes.count)
    close(ends.input)
    let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    let grandchild = try #require(pid_t(text.prefix { $0.isNumber }))
    let (source, log) = watching(grandchild)
    settle()
    #expect(log.count == 0)
    kill(grandchild, SIGKILL)
    #expect(log.waitForCount(1))
    #expect(log.all == [exit])
    cancelAndWait(source)
  }

  @Test func `that is suspended reports on resume`() {
    let child = startChild(["sleep", "1000"])
    let source = DispatchSource.makeProcessSource(
      identifier: child, eventMask: .exit, queue: queue)
    let notified = Counter()
    source.setEventHandler { notified.add() }
    source.activate()
    source.suspend()
    queue.sync {}
    kill(child, SIGKILL)
    #expect(waitFor(child).signal == SIGKILL)
    settle()
    #expect(notified.value == 0)
    source.resume()
    #expect(notified.waitForValue(1))
    settle()
    #expect(notified.value == 1)
    cancelAndWait(source)
  }

  @Test func `that is cancelled reports nothing`() {
    let child = startChild(["sleep", "1000"])
    let (source, log) = watching(child)
    queue.sync {}
    cancelAndWait(source)
    kill(child, SIGKILL)
    #expect(waitFor(child).signal == SIGKILL)
    settle()
    #expect(log.count == 0)
  }

  @Test func `is one of several on a process, and each one reports`() {
    let child = startChild(["sleep", "1000"])
    let all = (0..<3).map { _ in watching(child) }
    kill(child, SIGKILL)
    for (source, log) in all {
      #expect(log.waitForCount(1))
      cancelAndWait(source)
    }
    #expect(waitFor(child).signal == SIGKILL)
  }

  @Test func `of a thousand short children reports each exit once`() {
    let notified = Counter()
    let right = Counter()
    let cancelled = Latch(1000)
    for round in 0..<20 {
      for number in 0..<50 {
        let status = Int32((round * 50 + number) % 256)
        let child = startChild(["sh", "-c", "exit \(status)"])
        let source = DispatchSource.makeProcessSource(identifier: child, eventMask: .exit)
        source.setEventHandler {
          notified.add()
          if waitFor(child).status == status { right.add() }
          source.cancel()
        }
        source.setCancelHandler { cancelled.open() }
        source.activate()
      }
      #expect(notified.waitForValue((round + 1) * 50))
    }
    #expect(cancelled.wait())
    #expect(notified.value == 1000)
    #expect(right.value == 1000)
  }

  @Test func `without a reference ends, and its process does not`() {
    let child = startChild(["sleep", "1000"])
    let gone = Latch()
    do {
      let source = DispatchSource.makeProcessSource(
        identifier: child, eventMask: .exit, queue: queue)
      let witness = Witness { gone.open() }
      source.setEventHandler { _ = witness }
      source.activate()
      queue.sync {}
    }
    #expect(gone.wait())
    #expect(kill(child, SIGKILL) == 0)
    #expect(waitFor(child).signal == SIGKILL)
  }

  @Test(.enabled(if: mayKnowOfOthers, "needs the machine's first namespaces, and root"))
  func `reports forks and execs, and the exit last`() {
    let ends = DescriptorPair.pipe()
    _ = fcntl(ends.input, F_SETFL, 0)
    // The shell forks to run `true`, then becomes `cat`, which ends with its input.
    let child = startChild(["sh", "-c", "read word; true & wait; exec cat"], input: ends.input)
    let (source, log) = watching(child, [.exit, .fork, .exec])
    // The lane runs in order, so its registration handler shows that the source is registered.
    let isRegistered = Latch()
    let other = DispatchSource.makeProcessSource(identifier: child, eventMask: .all, queue: queue)
    let others = Log<UInt>()
    other.setRegistrationHandler { isRegistered.open() }
    other.setEventHandler { others.append((other as any DispatchSourceProtocol).data) }
    other.activate()
    #expect(isRegistered.wait())
    queue.sync {}
    _ = write(ends.output, "go\n", 3)
    #expect(eventually { log.all.reduce(0, |) == 0x6000_0000 })
    close(ends.output)
    close(ends.input)
    #expect(eventually { log.all.reduce(0, |) == 0xe000_0000 })
    #expect((log.all.last ?? 0) & exit != 0)
    #expect(eventually { others.all.reduce(0, |) == 0xe000_0000 })
    #expect(waitFor(child).status == 0)
    cancelAndWait(source)
    cancelAndWait(other)
  }

  @Test func `reports once, on request, that Linux does not report signals`() async throws {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      wantAllReports()
      for _ in 0..<3 {
        let isRegistered = Latch()
        let source = DispatchSource.makeProcessSource(identifier: getpid(), eventMask: .signal)
        source.setRegistrationHandler { isRegistered.open() }
        source.activate()
        guard isRegistered.wait() else { Glibc.exit(1) }
        source.cancel()
      }
    }
    let errors = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    let lines = errors.split(separator: "\n").filter { $0.contains("Linux does not report them") }
    #expect(lines.count == 1, "\(errors)")
  }

  @Test func `reports the exit though no descriptor is free`() async {
    await #expect(processExitsWith: .success) { watchWithoutDescriptors() }
  }

  @Test func `keeps no descriptor`() async {
    await #expect(processExitsWith: .success) {
      watchAndCancel(1)
      let before = openDescriptors()
      watchAndCancel(100)
      // The pool opens /proc briefly from time to time. A leak keeps dozens.
      guard eventually({ openDescriptors() <= before + 10 }) else { Glibc.exit(1) }
    }
  }

  @Test(arguments: [0, -1])
  func `for an invalid identifier stops the process and names the fix`(_ number: pid_t) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [number] in
      _ = DispatchSource.makeProcessSource(identifier: number, eventMask: .exit)
    }
    expectReport(result, names: ["\(number)"], says: ["check what"])
  }

  @Test func `for a thread stops the process and names the fix`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let thread = Box<pid_t>(0)
      let isThere = Latch()
      _ = TestThread {
        thread.value = pid_t(threadID())
        isThere.open()
        sleepMilliseconds(1000 * deadlineSeconds)
      }
      guard isThere.wait() else { return }
      DispatchSource.makeProcessSource(identifier: thread.value, eventMask: .exit).activate()
      sleepMilliseconds(1000 * deadlineSeconds)
    }
    expectReport(result, says: ["thread", "process's number"])
  }

  @Test func `without an event stops the process and names the fix`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = DispatchSource.makeProcessSource(identifier: getpid(), eventMask: [])
    }
    expectReport(result, says: ["eventMask"])
  }
}

/// Whether the kernel surely reports other processes' forks to this process: it is root, in the
/// machine's first namespaces. From Linux 6.6 on the kernel does not require root.
private let mayKnowOfOthers: Bool = {
  var isFirst = geteuid() == 0
  for (name, inode) in [("pid", 0xefff_fffc), ("user", 0xefff_fffd)] {
    var buffer = [CChar](repeating: 0, count: 64)
    let length = readlink("/proc/self/ns/\(name)", &buffer, buffer.count - 1)
    let text = String(
      decoding: buffer.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    isFirst = isFirst && text == "\(name):[\(inode)]"
  }
  return isFirst
}()

/// Makes `count` sources; half are cancelled before their process exits, half after it.
private func watchAndCancel(_ count: Int) {
  for number in 0..<count {
    let child = startChild(["sleep", "1000"])
    let notified = Latch()
    let cancelled = Latch()
    let source = DispatchSource.makeProcessSource(
      identifier: child, eventMask: number % 3 == 0 ? [.exit, .fork] : .exit)
    source.setEventHandler { notified.open() }
    source.setCancelHandler { cancelled.open() }
    source.activate()
    if number % 2 == 1 { source.cancel() }
    kill(child, SIGKILL)
    guard waitFor(child).signal == SIGKILL, number % 2 == 1 || notified.wait() else { exit(2) }
    source.cancel()
    guard cancelled.wait() else { exit(3) }
  }
}

private func watchWithoutDescriptors() {
  let child = startChild(["sleep", "1000"])
  let isRegistered = Latch()
  let notified = Counter()
  let source = DispatchSource.makeProcessSource(
    identifier: child, eventMask: .exit, queue: DispatchQueue(label: "x"))
  source.setRegistrationHandler { isRegistered.open() }
  source.setEventHandler { notified.add() }
  under(.noDescriptors) {
    source.activate()
    guard isRegistered.wait() else { exit(1) }
    kill(child, SIGKILL)
    guard notified.waitForValue(1) else { exit(2) }
  }
  guard waitFor(child).signal == SIGKILL else { exit(3) }
  source.cancel()
}
