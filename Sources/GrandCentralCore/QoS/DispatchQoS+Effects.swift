// Room: QoS/DispatchQoS+Effects. What the classes do on this machine, for those who want to know.
// Whoever asks before any class was put into effect has it found out by a thread made for that, since no thread of the
// program's is to be tried on.
import CLinux

extension DispatchQoS {
  /// One thing that a class does to the threads that run its work, or would do.
  ///
  /// - Source: `sys/qos.h` on what the classes stand for; `sched(7)`, `ioprio_set(2)` and `prctl(2)` for the means.
  public struct Effect: Hashable, Sendable {
    /// By which means.
    public enum Control: Hashable, Sendable, CaseIterable {
      /// Whether a thread that wakes up preempts others: SCHED_OTHER or SCHED_BATCH.
      case schedulingPolicy
      /// How long a thread runs before another's turn, and so how soon it gets its own; kernel 6.12.
      case timeSlice
      /// The share of a CPU that others want too.
      case niceLevel
      /// How fast a CPU should be at least, or at most.
      case utilizationClamp
      /// Whose requests a disk serves first.
      case diskPriority
      /// How exact the ends of sleeps are.
      case timerSlack
    }

    /// Why a control has no effect.
    public enum Refusal: Hashable, Sendable {
      /// The system refused it with this errno, as in a sandbox.
      case error(Int32)
      /// The kernel does not know it.
      case unsupported
      /// The process may lower threads by it, but not raise them again: `RLIMIT_NICE`, `CAP_SYS_NICE`.
      case notRestorable
      /// The program runs by another scheduling policy than threads usually have, and keeps it.
      case otherPolicy
      /// `GRANDCENTRAL_EFFECTS=none` is in the environment.
      case switchedOff
    }

    public let control: Control
    /// What the class asks for, in words: `SCHED_BATCH`, `20 ms`.
    public let setting: String
    /// Why threads do not get it; `nil`: they do.
    public let refusal: Refusal?
  }
}

extension DispatchQoS.QoSClass {
  /// What this class does to the threads that run its work: each control that it makes use of, and whether that takes
  /// effect in this process.
  ///
  /// Empty for `.default` and `.unspecified`, whose work runs as the program's threads do. Threads of the program's own
  /// are never touched, the main thread included, whatever they wait for or run by `sync`. A thread or process that an
  /// item makes begins as the item's thread is just then; that is the kernel's rule.
  ///
  /// Call from any thread. The first call may make a thread, which tries the controls, and wait for it: some tenths of a
  /// millisecond. What is refused later, say since the process gave up a privilege, shows in later calls.
  ///
  /// ```swift
  /// for effect in DispatchQoS.QoSClass.background.effects where effect.refusal != nil {
  ///   print("\(effect.control) \(effect.setting): \(effect.refusal!)")
  /// }
  /// ```
  /// - Source: `DispatchQoS.Effect`.
  public var effects: [DispatchQoS.Effect] {
    EffectControls.shared.learnOnThread()
    return EffectControls.shared.effects(of: band)
  }
}

extension EffectControls {
  func effects(of band: Band) -> [DispatchQoS.Effect] {
    let wanted = ClassEffects.of(band)
    var effects: [DispatchQoS.Effect] = []
    func add(
      _ control: DispatchQoS.Effect.Control, _ setting: String?, by means: EffectControl
    ) {
      guard let setting else { return }
      effects.append(
        .init(
          control: control, setting: setting, refusal: refusal(of: means).map { .init($0) }))
    }
    add(.schedulingPolicy, wanted.isBatch ? "SCHED_BATCH" : nil, by: .policy)
    let slice = wanted.sliceNanoseconds(isNice: has(.nice))
    add(.timeSlice, slice.map(milliseconds), by: .slice)
    add(.niceLevel, wanted.niceSteps == 0 ? nil : "+\(wanted.niceSteps)", by: .nice)
    let clamps = wanted.leastUtilization...wanted.mostUtilization
    add(
      .utilizationClamp,
      clamps == 0...1024 ? nil : "\(clamps.lowerBound)-\(clamps.upperBound) of 1024",
      by: .clamps)
    add(.diskPriority, wanted.diskPriority.map(described), by: .disk)
    add(.timerSlack, wanted.timerSlackNanoseconds.map(milliseconds), by: .slack)
    return effects
  }

  private func milliseconds(_ nanoseconds: UInt64) -> String {
    let (whole, rest) = (nanoseconds / 1_000_000, nanoseconds % 1_000_000)
    return rest == 0 ? "\(whole) ms" : "\(nanoseconds / 1000) µs"
  }

  private func described(_ priority: IOPriority) -> String {
    priority == .idle ? "idle" : "best effort, level \(priority.rawValue & 7)"
  }

  /// As learn(), by a thread made for that. Where none can be had, nothing is known yet but what has been refused.
  fileprivate func learnOnThread() {
    if isKnown { return }
    let visit = ControlsVisit(self)
    let error = startThread(
      { argument in
        // SAFETY: the reference passed below, owned by this thread.
        let visit = Unmanaged<ControlsVisit>.fromOpaque(argument.unsafelyUnwrapped)
          .takeRetainedValue()
        visit.controls.learn()
        visit.isOver.store(1, ordering: .releasing)
        futexWake(visit.isOver)
        return nil
      }, Unmanaged.passRetained(visit).toOpaque(), stackBytes: 256 * 1024)
    if error != 0 { return Unmanaged.passUnretained(visit).release() }
    // acquiring: pairs with the releasing store above. Not announced to the pool: it is a matter of microseconds.
    while visit.isOver.load(ordering: .acquiring) == 0 { _ = futexWait(visit.isOver, while: 0) }
  }
}

private final class ControlsVisit: Sendable {
  let controls: EffectControls
  let isOver = Atomic<UInt32>(0)
  init(_ controls: EffectControls) { self.controls = controls }
}

extension DispatchQoS.Effect.Refusal {
  fileprivate init(_ refusal: EffectRefusal) {
    switch refusal {
    case .error(let number): self = .error(number)
    case .ignored: self = .unsupported
    case .noWayBack: self = .notRestorable
    case .programs: self = .otherPolicy
    case .switchedOff: self = .switchedOff
    }
  }
}
