// Room: ThreadPolicy/DispatchQoS+Effects. Reports what the QoS classes do on this machine.
// The first query, if it comes before any class took effect, tries the controls on a thread made
// for that, and never on a thread of the program.
import CGrandCentralLinux

extension DispatchQoS {
  /// A setting that a class makes on the threads that run its work, and whether it takes effect.
  ///
  /// - Source: `sys/qos.h` for the meaning of the classes; `sched(7)`, `ioprio_set(2)` and
  ///   `prctl(2)` for the controls.
  public struct Effect: Hashable, Sendable {
    /// The kernel control that an effect uses.
    public enum Control: Hashable, Sendable, CaseIterable {
      /// Whether a thread that wakes up preempts the running one: SCHED_OTHER or SCHED_BATCH.
      case schedulingPolicy
      /// How long a thread runs at a time, and so how soon its turn comes. Needs Linux 6.12.
      case timeSlice
      /// The thread's share of a CPU that other threads want too.
      case niceLevel
      /// The minimum or maximum speed that the thread asks of its CPU.
      case utilizationClamp
      /// The order in which a disk serves requests.
      case diskPriority
      /// How late the kernel may end a sleep.
      case timerSlack
    }

    /// Why a control has no effect.
    public enum Refusal: Hashable, Sendable {
      /// The system refused the control with this errno, as in a sandbox.
      case error(Int32)
      /// The kernel does not support the control.
      case unsupported
      /// The process may lower a thread by this control, but not raise it again: `RLIMIT_NICE`,
      /// `CAP_SYS_NICE`.
      case notRestorable
      /// The program runs under an unusual scheduling policy, and keeps it.
      case otherPolicy
      /// `GRANDCENTRAL_EFFECTS=none` is in the environment.
      case switchedOff
    }

    /// The kernel control that the effect uses.
    public let control: Control
    /// The requested value in words, such as `SCHED_BATCH` or `6 ms`.
    public let setting: String
    /// Why threads do not get the setting; `nil` if they do.
    public let refusal: Refusal?
  }
}

extension DispatchQoS.QoSClass {
  /// What this class does to the threads that run its work: each control that it uses, and whether
  /// the control takes effect in this process.
  ///
  /// Empty for `.default` and `.unspecified`, whose work runs as the program's own threads do.
  /// Besides, a thread that is woken seldom for short items may have a time slice of 0.25 ms, in
  /// `.default` and each higher class. The list does not show it. And a thread that has run other
  /// work since it slept, while all CPUs are in use, gets the effects of a class above `.default`
  /// only when the item has lasted for a millisecond or two.
  /// Threads of the program are never changed, the main thread included, whatever they wait for or
  /// run by `sync`. A thread or process that an item creates inherits the state of the item's
  /// thread, except that slice; that is the kernel's rule.
  ///
  /// Call from any thread. The first call may create a thread that tries the controls, and wait for
  /// it for some tenths of a millisecond. Later refusals, for instance after the process gave up a
  /// privilege, show in later calls.
  ///
  /// ```swift
  /// for effect in DispatchQoS.QoSClass.background.effects where effect.refusal != nil {
  ///   print("\(effect.control) \(effect.setting): \(effect.refusal!)")
  /// }
  /// ```
  /// - Returns: the effects; empty if the class has none.
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
    let clamps = wanted.minUtilization...wanted.maxUtilization
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

  /// As learn(), on a thread made for that. If no thread can be created, only refusals so far are
  /// known.
  fileprivate func learnOnThread() {
    if isKnown { return }
    let probe = ControlsProbe(self)
    let error = startThread(
      { argument in
        // SAFETY: the argument is the reference passed below, which this thread owns.
        let probe = Unmanaged<ControlsProbe>.fromOpaque(argument.unsafelyUnwrapped)
          .takeRetainedValue()
        probe.controls.learn()
        probe.isOver.store(1, ordering: .releasing)
        futexWake(probe.isOver)
        return nil
      }, Unmanaged.passRetained(probe).toOpaque(), stackBytes: 256 * 1024)
    if error != 0 { return Unmanaged.passUnretained(probe).release() }
    // acquiring: pairs with the releasing store above. Not announced to the pool: the wait takes
    // microseconds.
    while probe.isOver.load(ordering: .acquiring) == 0 { _ = futexWait(probe.isOver, while: 0) }
  }
}

private final class ControlsProbe: Sendable {
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
