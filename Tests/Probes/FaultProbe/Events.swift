// Events while the system refuses their resources: no event is lost, and timers continue.
import CFaults
import Glibc
import GrandCentral
import TestSupport

/// A pipe with a source that reads it, used beside a timer and a delayed item.
private final class Watched: @unchecked Sendable {
  private let ends: DescriptorPair
  private let source: any DispatchSourceRead
  private let got = Counter()

  init(_ ends: DescriptorPair) {
    self.ends = ends
    source = DispatchSource.makeReadSource(fileDescriptor: ends.input)
    source.setEventHandler { [ends, got] in got.add(max(0, readBytes(ends.input))) }
    source.activate()
    writeBytes(ends.output, 10)
  }

  /// Whether all bytes written so far have been read.
  func hears() -> Bool {
    let before = got.value
    writeBytes(ends.output, 5)
    return got.waitForValue(before < 10 ? 15 : before + 5)
  }

  func end() -> Bool {
    let ended = Latch()
    source.setCancelHandler { ended.open() }
    source.cancel()
    return ended.wait()
  }
}

/// Whether a repeating timer and a delayed item run.
private func clockWorks() -> Bool {
  let ticks = Latch(5)
  let timer = DispatchSource.makeTimerSource()
  timer.setEventHandler { ticks.open() }
  timer.schedule(deadline: .now(), repeating: .milliseconds(1))
  timer.activate()
  let later = Latch(2)
  DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(5)) { later.open() }
  DispatchQueue.global().asyncAfter(wallDeadline: .now() + .milliseconds(5)) { later.open() }
  defer { timer.cancel() }
  return ticks.wait() && later.wait()
}

/// No descriptor is available when the first event is requested.
func eventsWithoutDescriptors(_ words: [String]) {
  let ends = DescriptorPair.pipe()
  check(faults_limit(FAULTS_DESCRIPTORS, 0) == 0, "the limit holds")
  let watched = Watched(ends)
  check(clockWorks(), "timers continue without a descriptor")
  check(faults_limit(FAULTS_DESCRIPTORS, -1) == 0, "the limit is lifted")
  check(watched.hears(), "events registered meanwhile are reported, with earlier ones")
  check(clockWorks(), "timers continue")
  check(watched.end(), "the source ends")
}

/// How often the process's eventfds that are never read have been signalled: proc(5), fdinfo.
private func eventFDSignals() -> Int {
  var signals = 0
  for number in 0..<64 {
    let file = open("/proc/self/fdinfo/\(number)", O_RDONLY)
    if file < 0 { continue }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let length = read(file, &bytes, bytes.count)
    let text = String(decoding: bytes.prefix(max(0, length)), as: UTF8.self)
    for line in text.split(separator: "\n") where line.hasPrefix("eventfd-count:") {
      signals += line.split(separator: " ").last.flatMap { Int($0, radix: 16) } ?? 0
    }
  }
  return signals
}

/// One of the calls fails permanently; the others work.
func eventsRefused(_ words: [String]) {
  let calls: [String: (faults_call, Int32)] = [
    "create": (FAULTS_EPOLL_CREATE1, EMFILE), "control": (FAULTS_EPOLL_CTL, ENOMEM),
    "timer": (FAULTS_TIMERFD_CREATE, ENFILE), "wake": (FAULTS_EVENTFD2, EMFILE),
  ]
  guard let (call, error) = calls[words.first ?? ""] else { return check(false, "no such call") }
  let watched = words.first == "control" ? Watched(DescriptorPair.pipe()) : nil
  if let watched { check(watched.hears(), "the source gets events before") }
  if faults_refuse([call], 1, error) != 0 { skip("seccomp(2) is not available") }
  check(clockWorks(), "timers continue")
  check(Work.isDone(), "work runs")
  if words.first == "timer" {
    check(Watched(DescriptorPair.pipe()).hears(), "sources get events")
    let before = eventFDSignals()
    check((0..<20).allSatisfy { _ in clockWorks() }, "timers continue for a while")
    // Each arming of a timer may signal once; an attempt every 10 ms must not.
    check(eventFDSignals() < before + 1000, "attempts do not wake the thread that makes them")
  }
}

/// No thread can be created when the first event is requested; later one can.
func eventsWithoutThreads(_ words: [String]) {
  let ends = DescriptorPair.pipe()
  check(faults_drop_privileges() == 0, "limits hold")
  let isRefused = faults_limit(FAULTS_PROCESSES, 0) == 0 && faults_try_thread() == EAGAIN
  if !isRefused { skip("threads are not refused") }
  let watched = Watched(ends)
  let later = DispatchSemaphore(value: 0)
  DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { later.signal() }
  check(later.wait(timeout: .now() + .milliseconds(50)) == .timedOut, "nothing runs")
  check(faults_limit(FAULTS_PROCESSES, -1) == 0, "the limit is lifted")
  check(
    later.wait(timeout: .now() + .seconds(deadlineSeconds)) == .success,
    "a waiting thread gets a thread for it")
  check(watched.hears(), "the source gets events")
  check(watched.end(), "the source ends")
}

/// Signals interrupt every thread continuously.
func eventsUnderSignals(_ words: [String]) {
  check(faults_count_signal(SIGUSR1) == 0 && faults_count_signal(SIGALRM) == 0, "handlers are set")
  let isOver = Box(false)
  let storm = TestThread("storm") {
    _ = faults_set_alarm(100)
    while !isOver.value { _ = faults_signal_others(SIGUSR1) }
    _ = faults_set_alarm(0)
  }
  let watched = (0..<8).map { _ in Watched(DescriptorPair.pipe()) }
  var rounds = 0
  var heard = 0
  while rounds < 200 || faults_signals() < 5_000 {
    rounds += 1
    if watched.allSatisfy({ $0.hears() }) { heard += 1 }
  }
  check(heard == rounds, "every byte was reported: \(heard) rounds of \(rounds)")
  check(clockWorks(), "timers continue")
  isOver.value = true
  check(storm.join(), "the storm ends")
  check(watched.allSatisfy { $0.end() }, "the sources end")
}
