// Room: ThreadPolicy/ThreadEffects. Applies the kernel settings of a class to a thread of the pool.
// The thread's own class is its own state, in its context (gc_thread.effect). To stay in a class
// costs one compare, and one load to see whether its settings are in place. A change takes up to
// three system calls, less those that the two classes have in common. The default class has no
// effects: its threads run as the program's threads do.
//   0 not the pool's ─adopt()→ default ─apply()→ a class ─apply()→ … ─leave()→ 0
//   `stuck`: the thread's nice value cannot be lowered again, since the program gave up a
//   privilege; then apply() returns false, and the pool lets the thread end.
//   `prompt`: the thread has a short slice besides: setPrompt(). A change of class keeps the bit.
//   What an item makes there has the plain slice: from then on the thread resets on fork.
//   `kept`: the thread came to its class without changing its settings, as below. It stays until
//   the thread has set the timer slack of a class, which no other thread can do for it.
// The settings in place may be those of a lower class, because the thread took work above it while
// it ran beside others. To set its own slice would cost it the CPU: the kernel counts it as a
// thread that arrives and, since it has run, lets all others go first. Items of class
// user-interactive, submitted by others that filled the CPUs, so began after 0.6 ms at the 90th
// percentile, and after 0.07 ms without; beside busy processes 3 ms and 0.1. A running thread needs
// no short slice; one that sleeps or computes for long gets it from the monitor.
// Or they are those of a higher class, for one of two reasons: another thread has raised this one
// (helped), or it came to the lower class only now and will probably rise soon (BriefStays). In
// both cases the next boundary decides anew: the start of the next item, or of a sleep. In the
// second, the pool's monitor lowers the thread if it stays in an item. All of them change the
// settings, and the words below, under the thread's lock:
//   owner    lock; the class in place is higher, and the stay probably brief? own class = the new
//            one; `isLoweredLater`; request the monitor's looks; unlock.
//            Otherwise: system calls; own class = class in place = the new one; unlock
//            From default up, the class in place lower, and it has run beside others since it
//            slept? own class = the new one; `isRaisedLater`; request the looks; unlock.
//   helper   lock; the thread is the pool's, and a lower class is in place, or it is to be lowered
//            later? system calls; class in place = the higher one; neither flag; unlock
//   monitor  lock; `isLoweredLater`, and the stay is no longer brief? system calls; class in place
//            = own class; not `isLoweredLater`; unlock. The same if `isRaisedLater` in two looks
// Invariants: their calls never mix. At most one flag is set, and `isRaisedLater` only while the
// own class is above the one in place. Help that has been given lasts until the next boundary; the
// monitor does not undo it. A helper may come late, after the item has ended. Then the owner finds
// it at its next boundary. No thread uses an id that now belongs to another thread: the
// owner clears its class under the lock before the thread ends.
// The owner sets one of the flags and then reads whether the monitor is awake; the monitor decides
// to sleep and then reads the flags (Pool/Monitor). All four are sequentially consistent, so one of
// the two sees the other.
import CGrandCentralLinux

enum ThreadEffects {
  private static var stuck: UInt32 { 0x100 }
  private static var prompt: UInt32 { 0x200 }
  private static var kept: UInt32 { 0x400 }

  /// Makes the calling thread run as `band`; unspecified counts as default. Called at the boundary
  /// of an item. Changes only threads of the pool. False: the thread is lower than that, and cannot
  /// be raised.
  @inline(__always) @discardableResult
  static func apply(_ band: Band, on thread: ThreadContext) -> Bool {
    isInEffect(band, on: thread)
      || change(to: band, isPrompt: thread.pointee.effect & prompt != 0, on: thread)
  }

  /// Whether the calling thread already runs as `band`, with the settings of that class.
  @inline(__always)
  static func isInEffect(_ band: Band, on thread: ThreadContext) -> Bool {
    let own = UInt32(band.rawValue)
    return thread.pointee.effect & ~prompt == own && thread.classInPlace == own
  }

  /// Whether `thread`, the calling one, is in a class below default, and has its settings or had
  /// them until another thread raised it.
  static func isLow(_ thread: ThreadContext) -> Bool {
    let effect = thread.pointee.effect
    guard effect != 0, effect & 0xff < UInt32(Band.default.rawValue) else { return false }
    return !isKept(thread)
  }

  /// Whether `thread`, the calling one, has the settings of a higher class because it is to be
  /// lowered later.
  static func isKept(_ thread: ThreadContext) -> Bool {
    // relaxed: only the owner sets it, and a stale value costs system calls, as a hint does.
    thread.pointee.effect & kept != 0 && thread.shared.isLoweredLater.load(ordering: .relaxed)
  }

  /// `isAtOnce`: the settings must be those of `asked` when this returns; always before a rest.
  @inline(never) @discardableResult
  private static func change(
    to asked: Band, isPrompt: Bool, isAtOnce: Bool = false, isRest: Bool = false,
    on thread: ThreadContext
  ) -> Bool {
    let seen = thread.pointee.effect
    let band = asked == .unspecified ? .default : asked
    let wanted = UInt32(band.rawValue) | (isPrompt ? prompt : 0)
    guard seen != 0, seen != wanted || thread.classInPlace != UInt32(band.rawValue) else {
      return true
    }
    let controls = EffectControls.shared
    if !controls.isKnown { controls.learn() }
    let shared = thread.shared
    return shared.effectsLock.withLock {
      let own = Band(rawValue: UInt8(seen & 0xff)) ?? .default
      let inPlace = shared.inPlace
      if isRest { shared.stays.rested(at: Clock.monotonicNanoseconds()) }
      let isBrief = !isRest && noteStay(from: own, to: band, inPlace, shared)
      let mayWait = !isAtOnce && seen & stuck == 0 && shared.isPromptInPlace == isPrompt
      if isBrief && mayWait && savesCalls(inPlace, band, controls) && lowersLater(shared) {
        shared.isRaisedLater.store(false, ordering: .relaxed)
        thread.pointee.effect = wanted | kept
        shared.ownClass.store(UInt32(band.rawValue), ordering: .relaxed)
        return true
      }
      if mayWait && !isRest && risesLater(from: inPlace, to: band, shared, controls) {
        shared.isLoweredLater.store(false, ordering: .relaxed)
        thread.pointee.effect = wanted
        shared.ownClass.store(UInt32(band.rawValue), ordering: .relaxed)
        return true
      }
      let before = ClassEffects.of(inPlace, isPrompt: shared.isPromptInPlace)
      let after = ClassEffects.of(band, isPrompt: isPrompt)
      let isRaised =
        (after.scheduling == before.scheduling && seen & stuck == 0)
        || schedule(after, shared, controls)
      if after.diskPriority != before.diskPriority && controls.has(.disk) {
        let error = IOPriority.set(after.diskPriority ?? controls.baseDisk, of: 0)
        if error != 0 { controls.refuse(.disk, .error(error)) }
      }
      setSlack(of: band, shared, controls)
      thread.pointee.effect = wanted | (isRaised ? 0 : stuck)
      shared.ownClass.store(UInt32(band.rawValue), ordering: .relaxed)
      shared.setInPlace(band, isPrompt: isPrompt)
      return isRaised
    }
  }

  /// Notes that the thread leaves the class in place, or rises. Returns whether it may keep the
  /// settings of a higher class, since it will probably rise soon.
  private static func noteStay(
    from own: Band, to band: Band, _ inPlace: Band, _ shared: ThreadShared
  ) -> Bool {
    let now = Clock.monotonicNanoseconds()
    if band > own && band >= inPlace {
      shared.stays.rose(at: now)
    } else if band < own && own == inPlace {
      shared.stays.left(at: now)
    }
    return band < inPlace && shared.stays.keepsSettings(at: now)
  }

  /// Requests that the thread be lowered later. Returns false if the monitor is not there to do it.
  private static func lowersLater(_ shared: ThreadShared) -> Bool {
    // relaxed: only this thread sets it, under the lock. While it is set the monitor does not rest.
    if shared.isLoweredLater.load(ordering: .relaxed) { return true }
    // sequentiallyConsistent: the owner's half of the pair above.
    shared.isLoweredLater.store(true, ordering: .sequentiallyConsistent)
    return shared.effectsWatcher?.watchEffects() ?? false
  }

  /// Requests that the thread be raised later, if it should be.
  private static func risesLater(
    from inPlace: Band, to band: Band, _ shared: ThreadShared, _ controls: EffectControls
  ) -> Bool {
    // The lower classes have nice values and other slacks.
    guard shared.mayRiseLater, band > inPlace, inPlace >= .default,
      shared.slackClass >= UInt32(Band.default.rawValue), savesCalls(inPlace, band, controls)
    else { return false }
    // relaxed, sequentiallyConsistent: as in lowersLater().
    if shared.isRaisedLater.load(ordering: .relaxed) { return true }
    shared.isRaisedLater.store(true, ordering: .sequentiallyConsistent)
    return shared.effectsWatcher?.watchEffects() ?? false
  }

  /// Only the thread itself can set its slack.
  private static func setSlack(
    of band: Band, _ shared: ThreadShared, _ controls: EffectControls
  ) {
    let before = Band(rawValue: UInt8(shared.slackClass)) ?? .default
    let slack = ClassEffects.of(band).timerSlackNanoseconds
    shared.slackClass = UInt32(band.rawValue)
    guard slack != ClassEffects.of(before).timerSlackNanoseconds, controls.has(.slack) else {
      return
    }
    let error = TimerSlack.set(slack)
    if error != 0 { controls.refuse(.slack, .error(error)) }
  }

  /// Leaves a class below default before the calling thread sleeps or waits for events, since the
  /// work that wakes it may be of any class. A class above default is kept: it has no effect on a
  /// sleeping thread, and the next item is most likely of the same class.
  @inline(__always)
  static func rest(_ thread: ThreadContext) {
    let effect = thread.pointee.effect
    let own = effect & ~prompt
    if own < UInt32(Band.default.rawValue) || thread.classInPlace != own {
      restFromAnother(thread)
    }
  }

  @inline(never)
  private static func restFromAnother(_ thread: ThreadContext) {
    let shared = thread.shared
    let band = isKept(thread) ? max(shared.inPlace, .default) : .default
    let isPrompt = thread.pointee.effect & prompt != 0
    change(to: band, isPrompt: isPrompt, isRest: true, on: thread)
  }

  /// Gives the calling thread the settings of its class at once, if it was to be lowered later. In
  /// a forked child, which has no monitor yet.
  static func lowerNow(_ thread: ThreadContext) {
    let effect = thread.pointee.effect
    guard effect & kept != 0 else { return }
    let own = Band(rawValue: UInt8(effect & 0xff)) ?? .default
    change(to: own, isPrompt: effect & prompt != 0, isAtOnce: true, on: thread)
  }

  /// Whether the settings of the two classes differ, as far as they take effect.
  private static func savesCalls(
    _ inPlace: Band, _ band: Band, _ controls: EffectControls
  ) -> Bool {
    let (before, after) = (ClassEffects.of(inPlace), ClassEffects.of(band))
    return controls.hasScheduling && before.scheduling != after.scheduling
      || controls.has(.disk) && before.diskPriority != after.diskPriority
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
    change(to: own, isPrompt: isPrompt, on: thread)
  }

  // MARK: A thread's start and end

  /// Makes the calling thread the pool's, in no class; the thread that created it may have been in
  /// one. A thread that cannot be replaced gets no nice value, since it might be unable to return
  /// from it.
  static func adopt(
    _ thread: ThreadContext, isReplaceable: Bool, watcher: (any EffectsWatcher)? = nil
  ) {
    let controls = EffectControls.shared
    controls.learnBase()
    let shared = thread.shared
    shared.mayBeNice.store(isReplaceable, ordering: .relaxed)
    shared.mayRiseLater = false
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
      shared.stays = BriefStays()
      shared.slackClass = UInt32(Band.default.rawValue)
      shared.effectsWatcher = watcher
      shared.ownClass.store(UInt32(Band.default.rawValue), ordering: .relaxed)
      shared.setInPlace(.default, isPrompt: false)
    }
  }

  /// Ends the pool's use of the calling thread, which is about to end. No other thread changes it
  /// afterwards.
  static func leave(_ thread: ThreadContext) {
    let shared = thread.shared
    shared.effectsLock.withLock {
      shared.effectsWatcher = nil
      shared.ownClass.store(0, ordering: .relaxed)
      shared.setInPlace(.unspecified, isPrompt: false)
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
    let helped = isKept(thread) ? band : thread.shared.inPlace
    change(to: .default, isPrompt: effect & prompt != 0, isAtOnce: true, on: thread)
    defer {
      apply(band, on: thread)
      help(thread, to: helped)
    }
    return body()
  }
}
