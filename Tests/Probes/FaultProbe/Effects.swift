import CFaults
import Glibc
import GrandCentral
import TestSupport

/// The kernel's attributes of a thread, without its timer slack.
private struct Treatment: Equatable {
  var policy: Int32
  var nice: Int32
  var sliceNanoseconds: Int64
  var ioPriority: Int32

  init?(of thread: Int) {
    var noted = faults_treatment()
    guard faults_treatment_of(Int32(thread), &noted) == 0 else { return nil }
    (policy, nice) = (noted.policy, noted.nice)
    (sliceNanoseconds, ioPriority) = (noted.slice_nanoseconds, noted.io_priority)
  }

  /// Whether these are the attributes `wanted` of a class from default up. There, a worker that is
  /// woken seldom has a short slice besides, where slices take effect.
  func isAsWanted(_ wanted: Treatment) -> Bool {
    var prompt = wanted
    let slice = DispatchQoS.QoSClass.userInteractive.effects.first { $0.control == .timeSlice }
    if let slice, slice.refusal == nil { prompt.sliceNanoseconds = 250_000 }
    return self == wanted || self == prompt
  }

  /// Whether any attribute is lower than that of `other`.
  func isLower(than other: Treatment) -> Bool {
    // An unset I/O priority counts as level 4 of best-effort.
    let (disk, otherDisk) = (ioPriority == 0 ? 2 << 13 | 4 : ioPriority, other.ioPriority)
    return policy != other.policy || nice > other.nice
      || sliceNanoseconds > other.sliceNanoseconds
      || disk > (otherDisk == 0 ? 2 << 13 | 4 : otherDisk)
  }

  static var ownTimerSlack: Int64 {
    var noted = faults_treatment()
    return faults_treatment_of(0, &noted) == 0 ? noted.timer_slack_nanoseconds : -1
  }
}

/// The treatment that a class should make of `plain`, with the available controls.
private func expected(
  _ qosClass: DispatchQoS.QoSClass, from plain: Treatment, slack: Int64,
  has: (DispatchQoS.Effect.Control) -> Bool
) -> (Treatment, slack: Int64) {
  var treatment = plain
  var slack = slack
  let idle: Int32 = 3 << 13
  func bestEffort(_ level: Int32) -> Int32 { 2 << 13 | level }
  let (batch, slice, nice, disk, lateness): (Bool, Int64, Int32, Int32, Int64) =
    switch qosClass {
    case .background: (true, 6_000_000, 10, idle, 10_000_000)
    case .utility: (true, 4_000_000, 5, bestEffort(6), 1_000_000)
    case .userInitiated: (false, 500_000, 0, bestEffort(2), slack)
    case .userInteractive: (false, 250_000, 0, bestEffort(0), slack)
    case .default, .unspecified:
      (false, plain.sliceNanoseconds, 0, plain.ioPriority, slack)
    }
  if has(.schedulingPolicy) && batch { treatment.policy = 3 }
  if has(.timeSlice) { treatment.sliceNanoseconds = slice }
  if has(.niceLevel) { treatment.nice += nice }
  if has(.diskPriority) { treatment.ioPriority = disk }
  if has(.timerSlack) { slack = lateness }
  return (treatment, slack)
}

private let classes: [DispatchQoS.QoSClass] = [
  .background, .utility, .default, .userInitiated, .userInteractive,
]

private func qos(_ qosClass: DispatchQoS.QoSClass) -> DispatchQoS {
  DispatchQoS(qosClass: qosClass, relativePriority: 0)
}

/// An item that reports its thread and runs until finish().
private final class Held: Sendable {
  let thread = Box(0)
  let slack = Box(Int64(0))
  private let begun = Latch()
  private let end = Latch()
  private let over = Latch()

  init(_ qosClass: DispatchQoS.QoSClass, spins: Bool = false) {
    let isOver = Box(false)
    isEnded = isOver
    DispatchQueue.global(qos: qosClass).async { [self] in
      thread.value = threadID()
      slack.value = Treatment.ownTimerSlack
      begun.open()
      if spins { spin { isOver.value } } else { _ = end.wait() }
      over.open()
    }
  }

  private let isEnded: Box<Bool>
  func begins() -> Bool { begun.wait() }
  var treatment: Treatment? { Treatment(of: thread.value) }
  func finish() -> Bool {
    isEnded.value = true
    end.open()
    return over.wait()
  }
}

/// Checks each control of each class from outside while an item runs. Before and after, no thread
/// is below the main thread.
func effects(_ words: [String]) {
  if words.contains("unprivileged") {
    check(faults_drop_privileges() == 0, "privileges are dropped")
    if faults_nice_floor() <= 0 { skip("RLIMIT_NICE lets this process raise threads") }
  } else if geteuid() != 0 {
    skip("needs root")
  }
  if words.contains("refused") { refuseControls() }
  let plain = Treatment(of: Int(getpid()))
  guard let plain else { skip("sched_getattr(2) or ioprio_get(2) is refused here") }
  let slack = Treatment.ownTimerSlack
  if words.contains("asked-first") { _ = DispatchQoS.QoSClass.utility.effects }
  for round in 1...2 {
    for qosClass in classes.shuffled() { look(at: qosClass, plain, slack, in: round) }
    checkPlain(plain, "round \(round)")
  }
  checkQuery(words)
  check(Work.isDone(), "work runs")
  checkPlain(plain, "the end")
}

private func look(
  at qosClass: DispatchQoS.QoSClass, _ plain: Treatment, _ slack: Int64, in round: Int
) {
  let item = Held(qosClass)
  check(item.begins(), "\(qosClass) runs")
  let (wanted, wantedSlack) = expected(qosClass, from: plain, slack: slack) { control in
    qosClass.effects.contains { $0.control == control && $0.refusal == nil }
  }
  let found = item.treatment
  let isLow = qosClass == .background || qosClass == .utility
  check(
    isLow ? found == wanted : found?.isAsWanted(wanted) == true,
    "\(qosClass) has its effect in round \(round): \(String(describing: found))")
  check(item.slack.value == wantedSlack, "\(qosClass) has its timer slack: \(item.slack.value)")
  check(Treatment(of: Int(getpid())) == plain, "the main thread is left alone")
  check(item.finish(), "\(qosClass) ends")
  check(
    eventually { Treatment(of: item.thread.value).map { !$0.isLower(than: plain) } ?? true },
    "its thread is not lowered when it has nothing to do")
  // This item runs on the same thread or a similar one.
  let after = Held(.default)
  check(
    after.begins() && after.treatment?.isAsWanted(plain) == true, "default work runs undegraded")
  check(after.slack.value == slack, "also where it sleeps: \(after.slack.value)")
  check(after.finish(), "it ends")
}

/// Checks that no thread of the process is left in a class.
private func checkPlain(_ plain: Treatment, _ when: String) {
  check(
    eventually {
      processThreads().allSatisfy { Treatment(of: $0.id).map { !$0.isLower(than: plain) } ?? true }
    }, "no thread is lowered, \(when)")
}

private func refuseControls() {
  let calls = [FAULTS_SCHED_SETATTR, FAULTS_IOPRIO_SET]
  if faults_refuse(calls, calls.count, EPERM) != 0 { skip("seccomp(2) is not available") }
}

private func checkQuery(_ words: [String]) {
  let effects = DispatchQoS.QoSClass.background.effects
  let isNice = effects.contains { $0.control == .niceLevel && $0.refusal == nil }
  let controls = DispatchQoS.Effect.Control.allCases.filter { $0 != .timeSlice || !isNice }
  check(effects.map(\.control) == controls, "background makes use of every control")
  check(DispatchQoS.QoSClass.default.effects.isEmpty, "default of none")
  func refusal(_ control: DispatchQoS.Effect.Control) -> DispatchQoS.Effect.Refusal? {
    effects.first { $0.control == control }?.refusal
  }
  for effect in effects {
    print("\(effect.control) \(effect.setting): \(String(describing: effect.refusal))")
  }
  if words.contains("refused") {
    check(refusal(.schedulingPolicy) == .error(EPERM), "the policy is reported as refused")
    check(refusal(.timeSlice) == .error(EPERM), "the slice is reported as refused")
    check(refusal(.niceLevel) == .error(EPERM), "the nice value is reported as refused")
    check(refusal(.diskPriority) == .error(EPERM), "the disk's priority is reported as refused")
    check(refusal(.timerSlack) == nil, "what is not refused takes effect")
  } else if words.contains("off") {
    check(effects.allSatisfy { $0.refusal == .switchedOff }, "all is switched off")
  } else {
    check(refusal(.schedulingPolicy) == nil, "the policy takes effect")
    check(refusal(.diskPriority) == nil, "the disk's priority takes effect")
    check(refusal(.timerSlack) == nil, "the timer slack takes effect")
  }
  if words.contains("unprivileged") && Set(words).isDisjoint(with: ["refused", "off"]) {
    check(refusal(.niceLevel) == .notRestorable, "nice values stay: a change could not be undone")
  }
}

/// The process loses the privilege by which it lowered a thread while that thread is lowered.
func effectsOfLostPrivilege(_ words: [String]) {
  if geteuid() != 0 || faults_nice_floor() <= 0 { skip("needs root, and RLIMIT_NICE of 0") }
  guard let plain = Treatment(of: Int(getpid())) else { skip("sched_getattr(2) is refused here") }
  // This creates the monitor, which then creates the workers.
  check(Work.isDone(), "work runs")
  check(eventually { hasThread(named: "gc-monitor") }, "there is a monitor")
  let items = (0..<2).map { _ in Held(.background) }
  check(items.allSatisfy { $0.begins() }, "background runs")
  check(items[0].treatment?.nice == plain.nice + 10, "with a nice value")
  check(faults_drop_privileges() == 0, "privileges are dropped from here on")
  check(items.allSatisfy { $0.finish() }, "background ends")
  for number in 0..<20 {
    let item = Held([.default, .userInitiated, .userInteractive][number % 3])
    check(item.begins() && item.treatment?.nice == plain.nice, "work runs unlowered")
    check(item.finish(), "and ends")
  }
  check(Work.isDone(), "work runs")
  let nice = DispatchQoS.QoSClass.background.effects.first { $0.control == .niceLevel }
  check(nice?.refusal == .notRestorable, "the query says so")
  let later = Held(.background)
  check(later.begins() && later.treatment?.nice == plain.nice, "no thread is lowered")
  check(later.finish(), "and ends")
}

/// A program's thread with a nice value of its own causes workers to be created.
func effectsOfLoweredMaker(_ words: [String]) {
  check(faults_drop_privileges() == 0, "privileges are dropped")
  if faults_nice_floor() <= 0 { skip("RLIMIT_NICE lets this process raise threads") }
  guard let plain = Treatment(of: Int(getpid())) else { skip("sched_getattr(2) is refused here") }
  check(Work.isDone(), "work runs")
  check(eventually { hasThread(named: "gc-monitor") }, "there is a monitor")
  let items = Log<Held>()
  let maker = TestThread("lowered") {
    check(faults_set_nice(plain.nice + 7) == 0, "a thread has a nice value")
    // All of the items sleep, so each needs its own thread.
    for _ in 0..<16 { items.append(Held(.default)) }
  }
  check(maker.join(), "the thread ends")
  check(items.all.allSatisfy { $0.begins() }, "its work runs")
  check(items.all.allSatisfy { $0.treatment?.isAsWanted(plain) == true }, "unlowered")
  check(items.all.allSatisfy { $0.finish() }, "and ends")
}

/// Items that pass a turn back and forth between two queues of different classes.
private final class Rally: @unchecked Sendable {
  private let queues = [
    DispatchQueue(label: "low", qos: .background),
    DispatchQueue(label: "high", qos: .userInitiated),
  ]
  private let isOver = Latch()
  private var left: Int
  init(_ turns: Int) { left = turns }

  /// Returns when the turns are over; `last` runs as an item of the lower queue, right behind them.
  func play(_ last: @escaping @Sendable () -> Void) -> Bool {
    queues[0].async { self.turn(0, last) }
    return isOver.wait()
  }

  private func turn(_ number: Int, _ last: @escaping @Sendable () -> Void) {
    left -= 1
    if left > 0 { return queues[1 - number].async { self.turn(1 - number, last) } }
    queues[0].async { [self] in
      last()
      isOver.open()
    }
  }
}

/// Workers that alternate between classes at short items keep the settings of the higher one; an
/// item that lasts has those of its own class nevertheless, and so does an item that forks, in the
/// child.
func effectsOfAlternatingClasses(_ words: [String]) {
  guard let plain = Treatment(of: Int(getpid())) else { skip("sched_getattr(2) is refused here") }
  check(Work.isDone(), "work runs")
  check(eventually { hasThread(named: "gc-monitor") }, "there is a monitor")
  let (wanted, _) = expected(.background, from: plain, slack: 0) { control in
    DispatchQoS.QoSClass.background.effects.contains { $0.control == control && $0.refusal == nil }
  }
  for round in 1...20 {
    let sleeps = round % 2 == 0
    let mayEnd = Latch()
    let thread = Box(0)
    let begun = Latch()
    let watcher = TestThread("watcher") {
      check(begun.wait(), "the last item begins")
      check(eventually { Treatment(of: thread.value) == wanted }, "it is lowered, round \(round)")
      mayEnd.open()
    }
    let isOver = Rally(20_000).play {
      let child = faults_fork()
      if child == 0 { _exit(Treatment(of: threadID()) == wanted ? 0 : 1) }
      var status: Int32 = 0
      check(waitpid(child, &status, 0) == child && status == 0, "a child is lowered")
      thread.value = threadID()
      begun.open()
      if sleeps { _ = mayEnd.wait() } else { spin { mayEnd.isOpen } }
    }
    check(isOver && watcher.join(), "the turns end")
  }
  checkPlain(plain, "after the turns")
}
