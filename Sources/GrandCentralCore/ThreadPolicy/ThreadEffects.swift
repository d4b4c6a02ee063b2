// Room: ThreadPolicy/ThreadEffects. Applies the kernel settings of a class to a thread of the pool.
// The class in effect is the thread's own state, in its context (gc_thread.effect). To stay in a
// class costs one compare, and one load to see whether another thread helped. A change takes up to
// three system calls, less those that the two classes have in common. The default class has no
// effects: its threads run as the program's threads do.
//   0 not the pool's ─adopt()→ default ─apply()→ a class ─apply()→ … ─leave()→ 0
//   `stuck`: the thread's nice value cannot be lowered again, since the program gave up a
//   privilege; then apply() returns false, and the pool lets the thread end.
//   `prompt`: the thread has a short slice besides: setPrompt(). A change of class keeps the bit.
//   What an item makes there has the plain slice: from then on the thread resets on fork.
// Another thread may only help: help() raises a running thread, by its thread id, as far as the
// kernel permits from outside.
//   helper  lock; the thread is the pool's, and in a lower class? system calls; `help` = class;
//           unlock
//   owner   at a boundary: `help` ≠ 0, or another class? lock; system calls;
//           `ownClass` = class; `help` = 0; unlock
// Invariant: the calls of the two never mix. A helper may come late, after the item has ended. Then
// the owner finds `help` at its next boundary: the start of the next item, or of its sleep. A
// helper never uses a thread id that now belongs to another thread: the owner clears `ownClass`
// under the lock before the thread ends.
import CGrandCentralLinux

enum ThreadEffects {
  private static var stuck: UInt32 { 0x100 }
  private static var prompt: UInt32 { 0x200 }

  /// Makes the calling thread run as `band`; unspecified counts as default. Called at the boundary
  /// of an item. Changes only threads of the pool. False: the thread is lower than that, and cannot
  /// be raised.
  @inline(__always) @discardableResult
  static func apply(_ band: Band, on thread: ThreadContext) -> Bool {
    isInEffect(band, on: thread)
      || change(to: band, isPrompt: thread.pointee.effect & prompt != 0, on: thread)
  }

  /// Whether the calling thread already runs as `band`, and no other thread has helped it.
  @inline(__always)
  static func isInEffect(_ band: Band, on thread: ThreadContext) -> Bool {
    thread.pointee.effect & ~prompt == UInt32(band.rawValue) && !thread.isHelped
  }

  /// Whether `thread`, the calling one, is in a class below default.
  static func isLow(_ thread: ThreadContext) -> Bool {
    let effect = thread.pointee.effect
    return effect != 0 && effect & 0xff < UInt32(Band.default.rawValue)
  }

  @inline(never)
  private static func change(
    to asked: Band, isPrompt: Bool, on thread: ThreadContext
  ) -> Bool {
    let seen = thread.pointee.effect
    let band = asked == .unspecified ? .default : asked
    let wanted = UInt32(band.rawValue) | (isPrompt ? prompt : 0)
    guard seen != 0, seen != wanted || thread.isHelped else { return true }
    let controls = EffectControls.shared
    if !controls.isKnown { controls.learn() }
    let shared = thread.shared
    return shared.effectsLock.withLock {
      let own = Band(rawValue: UInt8(seen & 0xff)) ?? .default
      let helped = Band(rawValue: UInt8(shared.help.load(ordering: .relaxed))) ?? .unspecified
      // A helper does not know whether the thread is prompt.
      let before =
        helped == .unspecified
        ? ClassEffects.of(own, isPrompt: seen & prompt != 0) : ClassEffects.of(helped)
      let after = ClassEffects.of(band, isPrompt: isPrompt)
      let isRaised =
        (after.scheduling == before.scheduling && seen & stuck == 0)
        || schedule(after, shared, controls)
      if after.diskPriority != before.diskPriority && controls.has(.disk) {
        let error = IOPriority.set(after.diskPriority ?? controls.baseDisk, of: 0)
        if error != 0 { controls.refuse(.disk, .error(error)) }
      }
      let slack = after.timerSlackNanoseconds
      if slack != ClassEffects.of(own).timerSlackNanoseconds && controls.has(.slack) {
        let error = TimerSlack.set(slack)
        if error != 0 { controls.refuse(.slack, .error(error)) }
      }
      thread.pointee.effect = wanted | (isRaised ? 0 : stuck)
      shared.ownClass.store(UInt32(band.rawValue), ordering: .relaxed)
      shared.help.store(0, ordering: .relaxed)
      return isRaised
    }
  }

  /// Leaves a class below default before the calling thread sleeps or waits for events, since the
  /// work that wakes it may be of any class. A class above default is kept: it has no effect on a
  /// sleeping thread, and the next item is most likely of the same class.
  @inline(__always)
  static func rest(_ thread: ThreadContext) {
    let effect = thread.pointee.effect
    if effect & 0xff < UInt32(Band.default.rawValue) || effect & stuck != 0 || thread.isHelped {
      apply(.default, on: thread)
    }
  }

  /// Gives the calling thread a short slice, or takes it back, until it leaves the pool. The thread
  /// is in default or a higher class. Takes some microseconds, and up to 13 beside busy threads.
  static func setPrompt(_ isPrompt: Bool, on thread: ThreadContext) {
    guard thread.pointee.effect != 0 else { return }
    let controls = EffectControls.shared
    if !controls.isKnown { controls.learn() }
    // A slice that the program has chosen stays. So do a policy and a nice value that an item has
    // given the thread, which the call below would set back.
    guard controls.has(.slice), controls.baseSliceNanoseconds == 0, controls.canResetOnFork,
      case .success(let now) = Scheduling.attributes(of: 0), now.policy == controls.basePolicy,
      now.nice == thread.shared.nice.load(ordering: .relaxed)
    else { return }
    if isPrompt {
      thread.shared.effectsLock.withLock {
        thread.shared.resetsOnFork.store(true, ordering: .relaxed)
      }
    }
    let own = Band(rawValue: UInt8(thread.pointee.effect & 0xff)) ?? .default
    _ = change(to: own, isPrompt: isPrompt, on: thread)
  }

  /// Raises `thread` to `band` at once, until its next boundary. Any thread; takes a lock that is
  /// held only briefly. False: the thread is there already, or does not work for the pool.
  @discardableResult
  static func help(_ thread: ThreadContext, to band: Band) -> Bool {
    let controls = EffectControls.shared
    // Before the first class has taken effect, no thread is in a lower class.
    guard controls.isKnown else { return false }
    let shared = thread.shared
    return shared.effectsLock.withLock {
      let own = Band(rawValue: UInt8(shared.ownClass.load(ordering: .relaxed))) ?? .unspecified
      let helped = Band(rawValue: UInt8(shared.help.load(ordering: .relaxed))) ?? .unspecified
      let now = max(own, helped)
      guard own != .unspecified, band > now else { return false }
      let number = shared.threadID.load(ordering: .relaxed)
      let (before, after) = (ClassEffects.of(now), ClassEffects.of(band))
      shared.help.store(UInt32(band.rawValue), ordering: .relaxed)
      // A refusal here is not recorded: the thread itself may be allowed to, and finds out.
      if after.scheduling != before.scheduling && controls.hasScheduling {
        _ = Scheduling.set(controls.attributes(for: after, shared), of: number)
      }
      if after.diskPriority != before.diskPriority && controls.has(.disk) {
        _ = IOPriority.set(after.diskPriority ?? controls.baseDisk, of: number)
      }
      return true
    }
  }

  // MARK: A thread's start and end

  /// Makes the calling thread the pool's, in no class; the thread that created it may have been in
  /// one. A thread that cannot be replaced gets no nice value, since it might be unable to return
  /// from it.
  static func adopt(_ thread: ThreadContext, isReplaceable: Bool) {
    let controls = EffectControls.shared
    controls.learnBase()
    let shared = thread.shared
    shared.mayBeNice.store(isReplaceable, ordering: .relaxed)
    shared.nice.store(controls.baseNice, ordering: .relaxed)
    shared.effectsLock.withLock { shared.resetsOnFork.store(false, ordering: .relaxed) }
    if controls.hasScheduling, case .success(let own) = Scheduling.attributes(of: 0),
      own.policy != controls.basePolicy || own.nice != controls.baseNice
        || controls.isKnown && own.sliceNanoseconds != controls.plainSliceNanoseconds
    {
      if !setOwn(controls.attributes(for: .none, shared), controls) {
        // Inherited from a thread whose nice value the program had raised. It stays, and the steps
        // of the classes count from it.
        shared.nice.store(own.nice, ordering: .relaxed)
        _ = setOwn(controls.attributes(for: .none, shared), controls)
      }
    }
    if controls.has(.disk), case .success(let own) = IOPriority.priority(of: 0),
      own != controls.baseDisk
    {
      _ = IOPriority.set(controls.baseDisk, of: 0)
    }
    thread.pointee.effect = UInt32(Band.default.rawValue)
    shared.effectsLock.withLock {
      shared.ownClass.store(UInt32(Band.default.rawValue), ordering: .relaxed)
    }
  }

  /// Ends the pool's use of the calling thread, which is about to end. No other thread changes it
  /// afterwards.
  static func leave(_ thread: ThreadContext) {
    let shared = thread.shared
    shared.effectsLock.withLock {
      shared.ownClass.store(0, ordering: .relaxed)
      shared.help.store(0, ordering: .relaxed)
    }
    thread.pointee.effect = 0
  }

  /// Whether threads that `thread`, the calling one, creates could run at the program's nice value.
  /// A client's thread may have a higher one, which the threads that it creates inherit.
  static func makesPlainThreads(_ thread: ThreadContext) -> Bool {
    if thread.pointee.effect != 0 { return thread.pointee.effect & stuck == 0 }
    let controls = EffectControls.shared
    controls.learnBase()
    guard controls.hasScheduling, !(controls.isKnown && controls.has(.nice)),
      case .success(let own) = Scheduling.attributes(of: 0)
    else { return true }
    return own.nice <= controls.baseNice || Scheduling.niceFloor <= controls.baseNice
  }

  /// Runs `body` in no class, since threads that it creates inherit what is in effect. They do not
  /// inherit the slice of a prompt thread.
  static func withoutEffect<Result>(on thread: ThreadContext, _ body: () -> Result) -> Result {
    let effect = thread.pointee.effect
    guard effect != 0, !isInEffect(.default, on: thread) else { return body() }
    let band = Band(rawValue: UInt8(effect & 0xff)) ?? .default
    apply(.default, on: thread)
    defer { apply(band, on: thread) }
    return body()
  }

  // MARK: Scheduling attributes

  /// Applies `effects`. Returns whether the thread is no lower than asked.
  private static func schedule(
    _ effects: ClassEffects, _ shared: ThreadShared, _ controls: EffectControls
  ) -> Bool {
    guard controls.hasScheduling else { return true }
    let wanted = controls.attributes(for: effects, shared)
    if setOwn(wanted, controls) { return true }
    // EPERM: the thread's nice value was raised, perhaps by a class, before a privilege was given
    // up.
    guard case .success(let now) = Scheduling.attributes(of: 0) else {
      controls.refuse(.policy, .error(EPERM))
      return true
    }
    var possible = wanted
    possible.nice = now.nice
    possible.resetsOnFork = now.resetsOnFork
    let error = Scheduling.set(possible, of: 0)
    guard error == 0 else {
      for control in [EffectControl.policy, .slice, .clamps] {
        controls.refuse(control, .error(error))
      }
      return now.nice <= wanted.nice
    }
    if now.nice > wanted.nice { controls.refuse(.nice, .noWayBack) }
    return now.nice <= wanted.nice
  }

  private static func setOwn(
    _ attributes: Scheduling.Attributes, _ controls: EffectControls
  ) -> Bool {
    Scheduling.set(attributes, of: 0) == 0
  }
}

extension ClassEffects {
  /// The part of the effects that one system call sets.
  fileprivate struct SchedulingPart: Equatable {
    let isBatch: Bool
    let sliceNanoseconds: UInt64?
    let niceSteps: Int32
    let utilization: ClosedRange<UInt32>
  }

  fileprivate var scheduling: SchedulingPart {
    SchedulingPart(
      isBatch: isBatch, sliceNanoseconds: sliceNanoseconds, niceSteps: niceSteps,
      utilization: minUtilization...maxUtilization)
  }
}

extension EffectControls {
  fileprivate var hasScheduling: Bool { has(.policy) || has(.slice) || has(.nice) || has(.clamps) }

  /// The scheduling attributes of `effects` on the thread with this shared part.
  fileprivate func attributes(
    for effects: ClassEffects, _ shared: ThreadShared
  ) -> Scheduling.Attributes {
    var attributes = Scheduling.Attributes(
      policy: basePolicy, nice: shared.nice.load(ordering: .relaxed))
    if effects.isBatch && has(.policy) { attributes.policy = Scheduling.Policy.batch }
    let isNice = has(.nice) && shared.mayBeNice.load(ordering: .relaxed)
    if isNice { attributes.nice = min(19, attributes.nice + effects.niceSteps) }
    attributes.resetsOnFork = shared.resetsOnFork.load(ordering: .relaxed)
    guard isKnown else { return attributes }
    if has(.slice) {
      let slice = effects.sliceNanoseconds(isNice: isNice)
      attributes.sliceNanoseconds = slice ?? baseSliceNanoseconds
    }
    if has(.clamps), let base = baseClamps {
      let most = min(base.upperBound, effects.maxUtilization)
      attributes.clamps = min(most, max(base.lowerBound, effects.minUtilization))...most
    }
    return attributes
  }
}
