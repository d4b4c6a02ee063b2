// Room: ThreadPolicy/ThreadSettings. From the effects of a class to the scheduling attributes of a
// thread, and the words that say which class's settings it has.

extension ThreadEffects {
  /// Applies `effects`. Returns whether the thread is no lower than asked.
  static func schedule(
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

  static func setOwn(
    _ attributes: Scheduling.Attributes, _ controls: EffectControls
  ) -> Bool {
    Scheduling.set(attributes, of: 0) == 0
  }
}

extension ThreadShared {
  /// The thread's own class, and the class whose settings it has. Call with the lock, or from the
  /// thread itself.
  var own: Band {
    Band(rawValue: UInt8(ownClass.load(ordering: .relaxed))) ?? .unspecified
  }
  var inPlace: Band {
    Band(rawValue: UInt8(classInPlace.load(ordering: .relaxed))) ?? .unspecified
  }

  /// Call with the lock.
  func setInPlace(_ band: Band, isPrompt: Bool) {
    classInPlace.store(UInt32(band.rawValue), ordering: .relaxed)
    isPromptInPlace = isPrompt
    isLoweredLater.store(false, ordering: .relaxed)
    isRaisedLater.store(false, ordering: .relaxed)
  }

  /// Call with the lock.
  var stays: BriefStays {
    get { BriefStays(leftAt: leftAt, count: briefStays) }
    set { (leftAt, briefStays) = (newValue.leftAt, newValue.count) }
  }
}

extension ClassEffects {
  /// The part of the effects that one system call sets.
  struct SchedulingPart: Equatable {
    let isBatch: Bool
    let sliceNanoseconds: UInt64?
    let niceSteps: Int32
    let utilization: ClosedRange<UInt32>
  }

  var scheduling: SchedulingPart {
    SchedulingPart(
      isBatch: isBatch, sliceNanoseconds: sliceNanoseconds, niceSteps: niceSteps,
      utilization: minUtilization...maxUtilization)
  }
}

extension EffectControls {
  var hasScheduling: Bool { has(.policy) || has(.slice) || has(.nice) || has(.clamps) }

  /// The scheduling attributes of `effects` on the thread with this shared part.
  func attributes(
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
