// Room: QoS/ThreadEffects. Puts a class into effect on a thread of the pool, and takes it back.
// What is in effect is the thread's own affair, kept in its context (gc_thread.effect): to stay in a class costs one
// compare, and a look whether somebody helped. A change is up to three system calls, of which those are left out that
// the two classes have in common. The default class is no effect at all: how threads are that nobody touched.
//   0 not the pool's ─adopt()→ default ─apply()→ a class ─apply()→ … ─leave()→ 0
//   `stuck`: a nice value could be lowered and not raised again, since the program gave up a privilege meanwhile;
//   then apply() says so, and the pool lets the thread end.
// Others take part in one way: help() raises a running thread, by its number, as far as that can be done from outside.
//   helper  lock; the thread is the pool's, and in a lower class? system calls; `help` = class; unlock
//   owner   at a boundary: `help` ≠ 0, or another class? lock; system calls; `own` = class; `help` = 0; unlock
// So the calls of the two never mix. A helper may come late, when the item has ended: then the owner finds `help` at its
// next boundary, the beginning of the next item or of its sleep at the latest. A helper never finds a thread's number
// in use by another thread: the owner clears `own` under the lock before the thread ends.
import CLinux

enum ThreadEffects {
  private static var stuck: UInt32 { 0x100 }

  /// The calling thread runs as `band` from here on; unspecified counts as default. At the boundary of an item. False:
  /// the thread is lower than that, and cannot be raised. No thread but the pool's is touched.
  @inline(__always) @discardableResult
  static func apply(_ band: Band, on thread: ThreadContext) -> Bool {
    isInEffect(band, on: thread) || change(to: band, on: thread)
  }

  /// Whether there is nothing to apply.
  @inline(__always)
  static func isInEffect(_ band: Band, on thread: ThreadContext) -> Bool {
    thread.pointee.effect == UInt32(band.rawValue) && !thread.isHelped
  }

  /// Whether the thread, the calling one, is in a class below default.
  static func isLow(_ thread: ThreadContext) -> Bool {
    let effect = thread.pointee.effect
    return effect != 0 && effect & 0xff < UInt32(Band.default.rawValue)
  }

  @inline(never)
  private static func change(to asked: Band, on thread: ThreadContext) -> Bool {
    let seen = thread.pointee.effect
    let band = asked == .unspecified ? .default : asked
    guard seen != 0, seen != UInt32(band.rawValue) || thread.isHelped else { return true }
    let controls = EffectControls.shared
    if !controls.isKnown { controls.learn() }
    let words = thread.shared.effects
    return words.lock.withLock {
      let own = Band(rawValue: UInt8(seen & 0xff)) ?? .default
      let helped = Band(rawValue: UInt8(words.help.load(ordering: .relaxed)))
      let before = ClassEffects.of(helped == .unspecified ? own : helped ?? own)
      let after = ClassEffects.of(band)
      let isRaised =
        (after.scheduling == before.scheduling && seen & stuck == 0)
        || schedule(after, words, controls)
      if after.diskPriority != before.diskPriority && controls.has(.disk) {
        let error = IOPriority.set(after.diskPriority ?? controls.baseDisk, of: 0)
        if error != 0 { controls.refuse(.disk, .error(error)) }
      }
      let slack = after.timerSlackNanoseconds
      if slack != ClassEffects.of(own).timerSlackNanoseconds && controls.has(.slack) {
        let error = TimerSlack.set(slack)
        if error != 0 { controls.refuse(.slack, .error(error)) }
      }
      thread.pointee.effect = UInt32(band.rawValue) | (isRaised ? 0 : stuck)
      words.own.store(UInt32(band.rawValue), ordering: .relaxed)
      words.help.store(0, ordering: .relaxed)
      return isRaised
    }
  }

  /// The calling thread is about to sleep, or to wait for events: not in a class below default, since what wakes it may be
  /// of any. One above is kept: a sleeping thread has nothing of it, and the next item is most likely of the same.
  @inline(__always)
  static func rest(_ thread: ThreadContext) {
    let effect = thread.pointee.effect
    if effect & 0xff < UInt32(Band.default.rawValue) || effect & stuck != 0 || thread.isHelped {
      apply(.default, on: thread)
    }
  }

  /// Raises `thread` to `band` at once, until its next boundary. Any thread; takes a lock that nobody holds for long. False:
  /// it is there already, or is not at work for the pool.
  @discardableResult
  static func help(_ thread: ThreadContext, to band: Band) -> Bool {
    let controls = EffectControls.shared
    // Until a class has been put into effect there is no thread in a lower one.
    guard controls.isKnown else { return false }
    let shared = thread.shared
    let words = shared.effects
    return words.lock.withLock {
      let own = Band(rawValue: UInt8(words.own.load(ordering: .relaxed))) ?? .unspecified
      let helped = Band(rawValue: UInt8(words.help.load(ordering: .relaxed))) ?? .unspecified
      let now = max(own, helped)
      guard own != .unspecified, band > now else { return false }
      let number = shared.threadID.load(ordering: .relaxed)
      let (before, after) = (ClassEffects.of(now), ClassEffects.of(band))
      words.help.store(UInt32(band.rawValue), ordering: .relaxed)
      // What is refused here is not refused to the thread itself, and is found there.
      if after.scheduling != before.scheduling && controls.hasScheduling {
        _ = Scheduling.set(controls.attributes(for: after, words), of: number)
      }
      if after.diskPriority != before.diskPriority && controls.has(.disk) {
        _ = IOPriority.set(after.diskPriority ?? controls.baseDisk, of: number)
      }
      return true
    }
  }

  // MARK: A thread's beginning and end

  /// The calling thread is the pool's from now on, in no class; whoever made it may have been in one of its own. A thread
  /// that cannot be replaced gets no nice value, from which there might be no way back one day.
  static func adopt(_ thread: ThreadContext, isReplaceable: Bool) {
    let controls = EffectControls.shared
    controls.learnBase()
    let words = thread.shared.effects
    words.mayBeNice.store(isReplaceable, ordering: .relaxed)
    words.nice.store(controls.baseNice, ordering: .relaxed)
    if controls.hasScheduling, case .success(let own) = Scheduling.attributes(of: 0),
      own.policy != controls.basePolicy || own.nice != controls.baseNice
    {
      if !setOwn(controls.attributes(for: .none, words), controls) {
        // Made by a thread that the program had lowered: so it stays, and is no lower for its classes.
        words.nice.store(own.nice, ordering: .relaxed)
        _ = setOwn(controls.attributes(for: .none, words), controls)
      }
    }
    if controls.has(.disk), case .success(let own) = IOPriority.priority(of: 0),
      own != controls.baseDisk
    {
      _ = IOPriority.set(controls.baseDisk, of: 0)
    }
    thread.pointee.effect = UInt32(Band.default.rawValue)
    words.lock.withLock { words.own.store(UInt32(Band.default.rawValue), ordering: .relaxed) }
  }

  /// The calling thread is about to end. Nobody touches it from here on.
  static func leave(_ thread: ThreadContext) {
    let words = thread.shared.effects
    words.lock.withLock {
      words.own.store(0, ordering: .relaxed)
      words.help.store(0, ordering: .relaxed)
    }
    thread.pointee.effect = 0
  }

  /// Whether threads that `thread`, the calling one, makes could be raised to what the program's are. A client's thread
  /// may have been given a higher nice value, which what it makes inherits.
  static func makesPlainThreads(_ thread: ThreadContext) -> Bool {
    if thread.pointee.effect != 0 { return thread.pointee.effect & stuck == 0 }
    let controls = EffectControls.shared
    controls.learnBase()
    guard controls.hasScheduling, !(controls.isKnown && controls.has(.nice)),
      case .success(let own) = Scheduling.attributes(of: 0)
    else { return true }
    return own.nice <= controls.baseNice || Scheduling.niceFloor <= controls.baseNice
  }

  /// Runs `body` in no class: for threads that are made there, which inherit what is in effect.
  static func withoutEffect<Result>(on thread: ThreadContext, _ body: () -> Result) -> Result {
    let effect = thread.pointee.effect
    guard effect != 0, effect != UInt32(Band.default.rawValue) || thread.isHelped else {
      return body()
    }
    let band = Band(rawValue: UInt8(effect & 0xff)) ?? .default
    apply(.default, on: thread)
    defer { apply(band, on: thread) }
    return body()
  }

  // MARK: The scheduler's part

  /// Returns whether the thread is no lower than asked.
  private static func schedule(
    _ effects: ClassEffects, _ words: ThreadEffectWords, _ controls: EffectControls
  ) -> Bool {
    guard controls.hasScheduling else { return true }
    let wanted = controls.attributes(for: effects, words)
    if setOwn(wanted, controls) { return true }
    // EPERM: somebody has lowered the thread's nice value, perhaps a class, before a privilege was given up.
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
  /// What one system call sets.
  fileprivate struct SchedulingPart: Equatable {
    let isBatch: Bool
    let sliceNanoseconds: UInt64?
    let niceSteps: Int32
    let utilization: ClosedRange<UInt32>
  }

  fileprivate var scheduling: SchedulingPart {
    SchedulingPart(
      isBatch: isBatch, sliceNanoseconds: sliceNanoseconds, niceSteps: niceSteps,
      utilization: leastUtilization...mostUtilization)
  }
}

extension EffectControls {
  fileprivate var hasScheduling: Bool { has(.policy) || has(.slice) || has(.nice) || has(.clamps) }

  /// What the scheduler is to be told for `effects` on a thread with these words.
  fileprivate func attributes(
    for effects: ClassEffects, _ words: ThreadEffectWords
  ) -> Scheduling.Attributes {
    var attributes = Scheduling.Attributes(
      policy: basePolicy, nice: words.nice.load(ordering: .relaxed))
    if effects.isBatch && has(.policy) { attributes.policy = Scheduling.Policy.batch }
    let isNice = has(.nice) && words.mayBeNice.load(ordering: .relaxed)
    if isNice { attributes.nice = min(19, attributes.nice + effects.niceSteps) }
    guard isKnown else { return attributes }
    if has(.slice) {
      let slice = effects.sliceNanoseconds(isNice: isNice)
      attributes.sliceNanoseconds = slice ?? baseSliceNanoseconds
    }
    if has(.clamps), let base = baseClamps {
      let most = min(base.upperBound, effects.mostUtilization)
      attributes.clamps = min(most, max(base.lowerBound, effects.leastUtilization))...most
    }
    return attributes
  }
}
