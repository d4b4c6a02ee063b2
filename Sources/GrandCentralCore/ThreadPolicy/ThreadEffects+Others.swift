// Room: ThreadPolicy/ThreadEffects+Others. What other threads do with the settings of a thread:
// raise it, or lower it after all. The protocol is in ThreadEffects.

extension ThreadEffects {
  /// Raises `thread` to `band` at once, until its next boundary. Any thread; takes a lock that is
  /// held only briefly. False: the thread is there already, or does not work for the pool.
  @discardableResult
  static func help(_ thread: ThreadContext, to band: Band) -> Bool {
    let controls = EffectControls.shared
    // Before the first class has taken effect, no thread is in a lower class.
    guard controls.isKnown else { return false }
    let shared = thread.shared
    return shared.effectsLock.withLock {
      let (own, inPlace) = (shared.own, shared.inPlace)
      // relaxed, here and below: written under the lock.
      if shared.isRaisedLater.load(ordering: .relaxed) {
        return setFromOutside(max(band, own), shared, controls)
      }
      guard own != .unspecified, band > own else { return false }
      let isLoweredLater = shared.isLoweredLater.load(ordering: .relaxed)
      guard band > inPlace else {
        guard isLoweredLater else { return false }
        // From now on it has what it is helped to, and not what it has kept.
        if band < inPlace { setFromOutside(band, shared, controls) }
        shared.isLoweredLater.store(false, ordering: .relaxed)
        return true
      }
      return setFromOutside(band, shared, controls)
    }
  }

  /// Lowers `thread` to its own class if it was to be lowered later, and has stayed in that class.
  /// The monitor calls it. Returns whether the thread is still to be lowered.
  static func lowerIfDue(_ thread: ThreadContext, at now: UInt64) -> Bool {
    let shared = thread.shared
    // relaxed: a hint; see Monitor.rest() for the last look before it sleeps.
    guard shared.isLoweredLater.load(ordering: .relaxed) else { return false }
    return shared.effectsLock.withLock {
      guard shared.isLoweredLater.load(ordering: .relaxed) else { return false }
      if shared.stays.isBrief(at: max(now, shared.leftAt)) { return true }
      // A refusal leaves the thread as it is, until its next boundary.
      shared.isLoweredLater.store(false, ordering: .relaxed)
      setFromOutside(shared.own, shared, .shared)
      return false
    }
  }

  /// Raises `thread` to its own class if it was to be raised later. `isDue`: the monitor, which
  /// calls it, has found that before. Returns whether the thread is still to be raised.
  static func raiseIfDue(_ thread: ThreadContext, isDue: Bool) -> Bool {
    let shared = thread.shared
    // relaxed: as above.
    guard shared.isRaisedLater.load(ordering: .relaxed) else { return false }
    if !isDue { return true }
    return shared.effectsLock.withLock {
      guard shared.isRaisedLater.load(ordering: .relaxed) else { return false }
      // A refusal leaves the thread as it is, until its next boundary.
      shared.isRaisedLater.store(false, ordering: .relaxed)
      setFromOutside(shared.own, shared, .shared)
      return false
    }
  }

  /// Gives the thread with this shared part the settings of `band`, but for the timer slack. The
  /// caller holds the lock. A refusal is not recorded: the thread itself may be allowed to, and
  /// finds out.
  @discardableResult
  private static func setFromOutside(
    _ band: Band, _ shared: ThreadShared, _ controls: EffectControls
  ) -> Bool {
    let number = shared.threadID.load(ordering: .relaxed)
    // 0 would be the caller.
    guard number != 0 else { return false }
    let isPrompt = shared.isPromptInPlace
    let before = ClassEffects.of(shared.inPlace, isPrompt: isPrompt)
    let after = ClassEffects.of(band, isPrompt: isPrompt)
    if after.scheduling != before.scheduling && controls.hasScheduling {
      guard Scheduling.set(controls.attributes(for: after, shared), of: number) == 0 else {
        return false
      }
    }
    if after.diskPriority != before.diskPriority && controls.has(.disk) {
      _ = IOPriority.set(after.diskPriority ?? controls.baseDisk, of: number)
    }
    shared.setInPlace(band, isPrompt: isPrompt)
    return true
  }
}
