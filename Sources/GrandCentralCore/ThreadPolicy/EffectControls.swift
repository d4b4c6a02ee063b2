// Room: ThreadPolicy/EffectControls. Which controls the process has over its threads, and their
// base values. A thread of the pool, or a thread made for this, tries each control once, before a
// class first takes effect: it sets the control, sets it back, and reads it where the kernel may
// ignore it. A control that is refused then or later is never used again; its reason is kept for
// queries. 0 unknown ─learnBase()→ 1 values of threads without a class ─learn()→ 2 effect of each
// control Each step writes its results under the lock, before it stores its number; they are
// constant after that. Refusals may come later too, at most one per control. The nice value is
// special: a thread that raises it may not be able to lower it again. RLIMIT_NICE is read first,
// since it may allow exactly the way back. Otherwise the trial lowers the value by one step below
// the base, which is harmless and needs the same privilege as the way back. Capabilities in /proc
// are not read: in a user namespace they are listed and have no effect.

enum EffectControl: Int, CaseIterable, Sendable {
  case policy, slice, nice, clamps, disk, slack
}

/// Why a control has no effect.
enum EffectRefusal: Equatable, Sendable {
  /// The system call failed with this errno.
  case error(Int32)
  /// The kernel does not support the control, or accepts it and does nothing.
  case ignored
  /// The process could not undo it: RLIMIT_NICE, CAP_SYS_NICE.
  case noWayBack
  /// The program chose another policy, which stays in place.
  case programs
  /// GRANDCENTRAL_EFFECTS=none.
  case switchedOff
}

final class EffectControls: @unchecked Sendable {
  static let shared = EffectControls(isOff: Process.environment("GRANDCENTRAL_EFFECTS") == "none")

  private let lock = Lock()
  private let known = Atomic<UInt32>(0)
  /// The values of threads without a class. Valid from step 1 on.
  @Cell private(set) var basePolicy = Scheduling.Policy.other
  @Cell private(set) var baseNice: Int32 = 0
  @Cell private(set) var baseDisk = IOPriority.unset
  /// Valid from step 2 on. 0: the kernel's default.
  @Cell private(set) var baseSliceNanoseconds: UInt64 = 0
  /// The slice of threads without a class, as the kernel reports it.
  @Cell private(set) var plainSliceNanoseconds: UInt64 = 0
  @Cell private(set) var baseClamps: ClosedRange<UInt32>?
  /// Whether a thread may reset on fork. Besides the slice that resets a nice value below 0, and
  /// clamps. Valid from step 2 on.
  var canResetOnFork: Bool { baseNice >= 0 && (baseClamps ?? 0...1024) == 0...1024 }
  /// For each control 0 or an encoded refusal. Each is written at most once.
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

  /// Records why a control has no effect. The first reason stays. Any thread.
  func refuse(_ control: EffectControl, _ reason: EffectRefusal) {
    _ = refusals[control.rawValue].word.compareExchange(
      expected: 0, desired: reason.encoded, ordering: .relaxed)
  }

  // MARK: Trials

  /// Takes step 1 if it is due. Any thread.
  func learnBase() {
    // acquiring: pairs with the releasing store at the end.
    if known.load(ordering: .acquiring) != 0 { return }
    lock.withLock { readMainThread() }
  }

  /// Takes both steps. The calling thread is the pool's or was made for this, and is in no class.
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

  /// Reads the base values from the main thread, since a client's thread that submits first may
  /// have changed its own.
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
    // The slice of the main thread differs from that of a thread that set none: the program chose
    // it.
    guard case .success(let now) = Scheduling.attributes(of: 0),
      case .success(let main) = Scheduling.attributes(of: Process.identifier)
    else { return }
    plainSliceNanoseconds = main.sliceNanoseconds
    if has(.slice) && main.sliceNanoseconds != now.sliceNanoseconds {
      baseSliceNanoseconds = main.sliceNanoseconds
    }
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
    // The kernel clamps values below -20, so such a trial would test nothing.
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
  /// The refusal for a failed trial.
  fileprivate init(_ error: Int32) {
    // The kernel lacks the call or the control, or its record is too short to hold the control.
    self = [ENOSYS, EOPNOTSUPP, E2BIG].contains(error) ? .ignored : .error(error)
  }

  /// The refusal as one number: the errno of a failure, or a negative number.
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
