// Room: QoS/EffectControls. Which controls this process has over its own threads, and how they are without any class.
// Found out once, by a thread of the pool (or one made for it) before a class is first put into effect, by trying: each
// control is taken and given back, and asked for where the kernel might ignore it. What is refused then, or later, is
// never asked for again, and is known to whoever asks with its reason.
//   0 unknown ─base()→ 1 how threads are without a class ─learn()→ 2 what each control does
//   What a step finds is written under the lock before it, and constant after it; refusals come later too, once each.
// The nice value differs from the others: who took it may not be able to give it back. Whether it can is tried from
// the harmless side, by a step in the other direction, which must be allowed if the way back is to be. The limit is
// asked besides: it may allow just the way back. Capabilities of /proc are not looked at: in a user namespace they are
// there and count for nothing.

enum EffectControl: Int, CaseIterable, Sendable {
  case policy, slice, nice, clamps, disk, slack
}

/// Why a control has no effect.
enum EffectRefusal: Equatable, Sendable {
  /// The system call failed.
  case error(Int32)
  /// The kernel accepts it, or has not got it, and does nothing.
  case ignored
  /// The process could not take it back: RLIMIT_NICE, CAP_SYS_NICE.
  case noWayBack
  /// The program runs by another policy, which is left to it.
  case programs
  /// GRANDCENTRAL_EFFECTS=none.
  case switchedOff
}

final class EffectControls: @unchecked Sendable {
  static let shared = EffectControls(isOff: Process.environment("GRANDCENTRAL_EFFECTS") == "none")

  private let lock = Lock()
  private let known = Atomic<UInt32>(0)
  /// Of threads without a class, from step 1 on.
  @Cell private(set) var basePolicy = Scheduling.Policy.other
  @Cell private(set) var baseNice: Int32 = 0
  @Cell private(set) var baseDisk = IOPriority.unset
  /// From step 2 on. 0: the kernel's own.
  @Cell private(set) var baseSliceNanoseconds: UInt64 = 0
  @Cell private(set) var baseClamps: ClosedRange<UInt32>?
  /// By control: 0, or an encoded refusal. Written once each.
  private let refusals: [RefusalWord]
  private let isOff: Bool

  private final class RefusalWord: Sendable {
    let word = Atomic<Int32>(0)
  }

  init(isOff: Bool = false) {
    self.isOff = isOff
    refusals = EffectControl.allCases.map { _ in RefusalWord() }
    if isOff { for control in EffectControl.allCases { refuse(control, .switchedOff) } }
  }

  func refusal(of control: EffectControl) -> EffectRefusal? {
    EffectRefusal(encoded: refusals[control.rawValue].word.load(ordering: .relaxed))
  }

  func has(_ control: EffectControl) -> Bool {
    refusals[control.rawValue].word.load(ordering: .relaxed) == 0
  }

  /// The first reason stays. Any thread.
  func refuse(_ control: EffectControl, _ reason: EffectRefusal) {
    _ = refusals[control.rawValue].word.compareExchange(
      expected: 0, desired: reason.encoded, ordering: .relaxed)
  }

  // MARK: Finding out

  /// Step 1, if nobody has taken it. Any thread.
  func learnBase() {
    // acquiring: pairs with the releasing store at the end.
    if known.load(ordering: .acquiring) != 0 { return }
    lock.withLock { readMainThread() }
  }

  /// Both steps. The calling thread has no class, and is the pool's or made for it.
  func learn() {
    if isKnown { return }
    learnBase()
    lock.withLock {
      guard known.load(ordering: .relaxed) == 1 else { return }
      if !isOff {
        tryScheduling()
        tryNice()
        tryDisk()
        trySlack()
      }
      known.store(2, ordering: .releasing)
    }
  }

  // acquiring: pairs with the releasing store in learn().
  var isKnown: Bool { known.load(ordering: .acquiring) == 2 }

  /// As the main thread is: a client's thread that submits first may be in a state of its own.
  private func readMainThread() {
    guard known.load(ordering: .relaxed) == 0 else { return }
    defer { known.store(1, ordering: .releasing) }
    if isOff { return }
    switch Scheduling.attributes(of: Process.identifier) {
    case .success(let main):
      (basePolicy, baseNice) = (main.policy, main.nice)
      if main.policy != Scheduling.Policy.other { refuse(.policy, .programs) }
      if main.policy != Scheduling.Policy.other && main.policy != Scheduling.Policy.batch {
        for control in [EffectControl.slice, .nice, .clamps] { refuse(control, .programs) }
      }
    case .failure(let error):
      for control in [EffectControl.policy, .slice, .nice, .clamps] {
        refuse(control, EffectRefusal(error.number))
      }
    }
    switch IOPriority.priority(of: Process.identifier) {
    case .success(let priority): baseDisk = priority
    case .failure(let error): refuse(.disk, EffectRefusal(error.number))
    }
  }

  private func tryScheduling() {
    guard case .success(var plain) = Scheduling.attributes(of: 0) else { return }
    plain.sliceNanoseconds = 0
    let clamps = plain.clamps ?? 0...1024
    plain.clamps = nil
    attempt(.policy, plain) { $0.policy = Scheduling.Policy.batch }
    attempt(.clamps, plain) { $0.clamps = clamps }
    if has(.clamps) { baseClamps = clamps }
    let tried: UInt64 = 5_000_000
    attempt(.slice, plain) { $0.sliceNanoseconds = tried }
    if case .success(let now) = Scheduling.attributes(of: 0), now.sliceNanoseconds != tried {
      refuse(.slice, .ignored)
    }
    _ = Scheduling.set(plain, of: 0)
    // One that the main thread has chosen for itself is another than a thread has that chose none.
    guard has(.slice), case .success(let now) = Scheduling.attributes(of: 0),
      case .success(let main) = Scheduling.attributes(of: Process.identifier),
      main.sliceNanoseconds != now.sliceNanoseconds
    else { return }
    baseSliceNanoseconds = main.sliceNanoseconds
  }

  private func attempt(
    _ control: EffectControl, _ plain: Scheduling.Attributes,
    _ change: (inout Scheduling.Attributes) -> Void
  ) {
    guard has(control) else { return }
    var tried = plain
    change(&tried)
    let error = Scheduling.set(tried, of: 0)
    if error != 0 { refuse(control, EffectRefusal(error)) }
  }

  private func tryNice() {
    guard has(.nice), Scheduling.niceFloor > baseNice,
      case .success(var own) = Scheduling.attributes(of: 0)
    else { return }
    own.sliceNanoseconds = 0
    own.clamps = nil
    let error = Scheduling.set(own, of: 0)
    if error != 0 { return refuse(.nice, EffectRefusal(error)) }
    var tried = own
    tried.nice -= 1
    // A kernel reads less than the least as the least, which would try nothing.
    guard tried.nice >= -20, Scheduling.set(tried, of: 0) == 0 else {
      return refuse(.nice, .noWayBack)
    }
    _ = Scheduling.set(own, of: 0)
  }

  private func tryDisk() {
    guard has(.disk) else { return }
    var error = IOPriority.set(.idle, of: 0)
    if error == 0 { error = IOPriority.set(baseDisk, of: 0) }
    if error != 0 { refuse(.disk, EffectRefusal(error)) }
  }

  private func trySlack() {
    guard has(.slack) else { return }
    var error = TimerSlack.set(1_000_000)
    if error == 0 { error = TimerSlack.set(nil) }
    if error != 0 { refuse(.slack, EffectRefusal(error)) }
  }
}

extension EffectRefusal {
  /// Of what failed when it was tried.
  fileprivate init(_ error: Int32) {
    // A kernel without the call, without the control, or with a shorter record than it is in.
    self = [ENOSYS, EOPNOTSUPP, E2BIG].contains(error) ? .ignored : .error(error)
  }

  /// One number: what fails has its errno, the others are negative.
  fileprivate var encoded: Int32 {
    switch self {
    case .error(let number): number
    case .ignored: -1
    case .noWayBack: -2
    case .programs: -3
    case .switchedOff: -4
    }
  }

  fileprivate init?(encoded: Int32) {
    switch encoded {
    case 0: return nil
    case -1: self = .ignored
    case -2: self = .noWayBack
    case -3: self = .programs
    case -4: self = .switchedOff
    default: self = .error(encoded)
    }
  }
}
