import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The scheduling requests of a class") struct ClassEffectsTests {
  private static let classes: [Band] = [
    .background, .utility, .default, .userInitiated, .userInteractive,
  ]

  @Test func `are none for the default class, and for none`() {
    #expect(ClassEffects.of(.default) == .none && ClassEffects.of(.unspecified) == .none)
    for band in Self.classes where band != .default { #expect(ClassEffects.of(band) != .none) }
  }

  /// The default class has the kernel's own slice: 0.7 to 2.8 ms in kernels with slices.
  @Test func `are a shorter slice for each higher class`() {
    let slices = Self.classes.map { ClassEffects.of($0).sliceNanoseconds }
    let below = slices.prefix(2).compactMap { $0 }
    let above = slices.suffix(2).compactMap { $0 }
    #expect(below.count == 2 && above.count == 2)
    #expect(below == below.sorted(by: >) && below.allSatisfy { $0 > 2_800_000 })
    #expect(above == above.sorted(by: >) && above.allSatisfy { $0 < 700_000 })
    // sched_setattr(2) reads smaller and larger values as these limits.
    #expect(slices.compactMap { $0 }.allSatisfy { 100_000...100_000_000 ~= $0 })
  }

  @Test func `never give a thread a larger CPU share than the program's threads`() {
    let steps = Self.classes.map { ClassEffects.of($0).niceSteps }
    #expect(steps.allSatisfy { $0 >= 0 } && steps == steps.sorted(by: >))
    #expect(steps.suffix(3).allSatisfy { $0 == 0 })
  }

  @Test func `lower only the classes below default`() {
    for band in Self.classes {
      let effects = ClassEffects.of(band)
      let isBelow = band < .default
      #expect(effects.isBatch == isBelow)
      #expect((effects.timerSlackNanoseconds != nil) == isBelow)
      #expect((effects.leeway != .none) == isBelow)
      #expect(effects.minUtilization <= effects.maxUtilization)
    }
  }

  /// The kernel compares the class, then the level. Class 1 comes first, 3 last; a thread without a
  /// setting has level 4 of best-effort.
  @Test func `are a disk priority in the order of the classes, idle last`() {
    let priorities = Self.classes.map { ClassEffects.of($0).diskPriority ?? .bestEffort(4) }
    #expect(priorities.map(\.rawValue) == priorities.map(\.rawValue).sorted(by: >))
    #expect(Set(priorities).count == priorities.count)
    #expect(priorities.first == .idle)
  }

  @Test func `allow timers to be late by a part of the delay, up to a bound`() {
    let background = ClassEffects.of(.background).leeway
    #expect(background.nanoseconds(after: 0) == 0)
    #expect(background.nanoseconds(after: 1_000_000_000) == 100_000_000)
    #expect(background.nanoseconds(after: .max) == 1_000_000_000)
    let utility = ClassEffects.of(.utility).leeway
    #expect(utility.nanoseconds(after: 1_000_000_000) == 50_000_000)
    #expect(utility.nanoseconds(after: .max) == 100_000_000)
    #expect(TimerLeeway.none.nanoseconds(after: .max) == 0)
  }

  @Test func `let work for later be late by a hundredth of its delay, or more below default`() {
    for band in [.unspecified] + Self.classes {
      let isLowered = band == .background || band == .utility
      #expect(TimerLeeway.nanosecondsForWork(in: band, after: 0) == 0)
      let leeway = TimerLeeway.nanosecondsForWork(in: band, after: 50_000_000)
      #expect(leeway == (isLowered ? 5_000_000 : 500_000))
      let most = TimerLeeway.nanosecondsForWork(in: band, after: .max)
      #expect(isLowered ? most >= 100_000_000 : most == 1_000_000)
    }
  }
}

@Suite("A refused control") struct EffectRefusalTests {
  @Test(arguments: [
    EffectRefusal.error(1), .error(38), .ignored, .noWayBack, .programs, .switchedOff,
  ])
  func `keeps its first reason`(_ refusal: EffectRefusal) {
    let controls = EffectControls()
    #expect(controls.has(.slack) && controls.refusal(of: .slack) == nil)
    controls.refuse(.slack, refusal)
    controls.refuse(.slack, .error(22))
    #expect(!controls.has(.slack) && controls.refusal(of: .slack) == refusal)
    #expect(controls.has(.disk))
  }

  @Test func `is the state of every control that is switched off`() {
    let controls = EffectControls(isOff: true)
    controls.learn()
    for control in EffectControl.allCases { #expect(controls.refusal(of: control) == .switchedOff) }
    #expect(controls.isKnown)
  }
}
