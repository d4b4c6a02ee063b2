// Every transition from every small valid word keeps the invariants in LaneState's header, and
// changes no bit that it does not own.
import Testing

@testable import GrandCentralCore

@Suite("From every valid state word, a lane") struct LaneStateInvariantTests {
  private static let list = LaneState.pendingMask

  /// Runs one check over words and expects no fault.
  private func expectNoFaults(
    in words: [LaneState], sourceLocation: SourceLocation = #_sourceLocation,
    _ check: (LaneState) -> [String]
  ) {
    expectNoFaults(in: words, ofWidths: [LaneState.defaultWidth], sourceLocation: sourceLocation) {
      word, _ in check(word)
    }
  }

  private func expectNoFaults(
    in words: [LaneState], ofWidths widths: [Int],
    sourceLocation: SourceLocation = #_sourceLocation, _ check: (LaneState, Int) -> [String]
  ) {
    let faults = widths.flatMap { width in words.flatMap { check($0, width) } }
    #expect(!words.isEmpty, sourceLocation: sourceLocation)
    #expect(
      faults.isEmpty, "\(faults.count) faults, the first: \(faults.prefix(3))",
      sourceLocation: sourceLocation)
  }

  @Test func `has thousands of words to check`() {
    #expect(LaneWords.all.count == 5376)
    #expect(LaneWords.valid.count > 1000)
    #expect(LaneWords.valid.contains(LaneState(rawValue: 0)))
  }

  @Test func `agrees on which words are valid`() {
    let wrong = LaneWords.all.filter { $0.isValid != LaneWords.brokenInvariants($0).isEmpty }
    #expect(wrong.isEmpty, "\(wrong.count) words, the first: \(wrong.prefix(3))")
  }

  @Test(arguments: [false, true], [Band.background, .default, .userInteractive])
  func `accepts a node`(exclusive: Bool, band: Band) {
    expectNoFaults(in: LaneWords.valid, ofWidths: LaneWords.widths) { word, width in
      let (next, action) = word.pushed(
        LaneWords.arriving, exclusive: exclusive, urgency: band, width: width)
      let isMore = band > word.urgency
      switch action {
      case .admitted(let retains):
        var faults = LaneWords.faults(
          word, next, mayChange: LaneWords.runningMask | LaneState.held)
        if exclusive || word.hasWork || word.isLocked || word.isSuspended {
          faults.append("\(LaneWords.describe(word)) let a node pass what is ahead of it")
        }
        if retains != (next.isHeld && !word.isHeld) || !next.isHeld {
          faults.append("\(LaneWords.describe(word)) miscounts its hold on itself")
        }
        if next.running != word.running + 1 { faults.append("did not count the node") }
        if next.running > width { faults.append("let in more than may be") }
        return faults
      case .queued, .raised:
        return LaneWords.faults(
          word, next, mayChange: Self.list | LaneState.barrier | LaneState.urgencyMask)
          + (next.pending == LaneWords.arriving ? [] : ["the node is not the newest"])
          + (next.urgency == max(band, word.urgency) ? [] : ["miscounts how urgent it is"])
          + ((action == .raised) == (isMore && word.isLocked) ? [] : ["raises the wrong ones"])
      case .schedule:
        var faults = LaneWords.faults(
          word, next,
          mayChange: Self.list | LaneState.locked | LaneState.held | LaneState.urgencyMask)
        if next.urgency != max(band, word.urgency) { faults.append("is as urgent as another") }
        if word.isLocked || word.isSuspended || word.isHeld || !next.isHeld || !next.isLocked {
          faults.append("\(LaneWords.describe(word)) scheduled what was not its own")
        }
        return faults + (next.pending == LaneWords.arriving ? [] : ["the node is not the newest"])
      }
    }
  }

  @Test(arguments: [Band.background, .default, .userInteractive])
  func `accepts a node behind the owner as behind any other`(band: Band) {
    expectNoFaults(in: LaneWords.valid) { word in
      let short = word.pushedBehindOwner(LaneWords.arriving, urgency: band)
      for exclusive in [false, true] {
        let (next, action) = word.pushed(
          LaneWords.arriving, exclusive: exclusive, urgency: band, width: 1)
        let isCommon = word.isLocked && !word.isSuspended && action == .queued
        if (short != nil) != isCommon { return ["\(LaneWords.describe(word)) takes the wrong way"] }
        if let short, short != next { return ["\(LaneWords.describe(word)) becomes another word"] }
      }
      return []
    }
  }

  @Test(arguments: [false, true])
  func `admits a sync`(exclusive: Bool) {
    expectNoFaults(in: LaneWords.valid, ofWidths: LaneWords.widths) { word, width in
      guard let next = word.entered(exclusive: exclusive, width: width) else { return [] }
      let owned = exclusive ? LaneState.locked : LaneWords.runningMask
      var faults = LaneWords.faults(word, next, mayChange: owned)
      if word.isLocked || word.hasWork || word.isSuspended || word.isBound {
        faults.append("\(LaneWords.describe(word)) let a sync in")
      }
      if exclusive && word.running > 0 { faults.append("let a barrier in beside others") }
      if next.running > width { faults.append("let in more than may be") }
      let woken = next.withSleepers(exclusive: exclusive)
      return faults
        + LaneWords.faults(next, woken, mayChange: exclusive ? LaneState.sleepers : 0)
    }
  }

  @Test func `admits a reader that is inside`() {
    let words = LaneWords.valid.filter { $0.running > 0 }
    expectNoFaults(in: words) { word in
      guard let next = word.enteredFromInside() else {
        let isRefused = word.isSuspended || word.awaitsBarrier
        return isRefused || word.running == LaneState.maxHolders ? [] : ["waits for itself"]
      }
      var faults = LaneWords.faults(word, next, mayChange: LaneWords.runningMask)
      if next.running != word.running + 1 { faults.append("miscounted") }
      if word.awaitsBarrier { faults.append("passed a barrier") }
      return faults
    }
  }

  @Test func `lets a new waiter sleep`() {
    expectNoFaults(in: LaneWords.valid) { word in
      guard let next = word.fellAsleep() else { return [] }
      return LaneWords.faults(word, next, mayChange: LaneState.sleepers)
        + (next.hasSleepers ? [] : ["the word does not count the sleeper"])
        + (next.fellAsleep() == next ? [] : ["a second sleeper changes the word"])
    }
  }

  @Test(arguments: [1, 2, 5])
  func `admits others on behalf of a shared holder`(count: Int) {
    let words = LaneWords.valid.filter { $0.running > 0 }
    expectNoFaults(in: words, ofWidths: LaneWords.widths) { word, width in
      guard let (next, admitted) = word.admitted(upTo: count, width: width) else {
        return word.hasWorkOrOwner || word.running >= width ? [] : ["refused for no reason"]
      }
      var faults = LaneWords.faults(word, next, mayChange: LaneWords.runningMask)
      if word.hasWorkOrOwner { faults.append("\(LaneWords.describe(word)) is passed") }
      if next.running != word.running + admitted { faults.append("miscounted") }
      if next.running > width { faults.append("let in more than may be") }
      if admitted < count && next.running < width { faults.append("let in fewer than may be") }
      return faults
    }
  }

  @Test func `counts a shared holder that leaves`() {
    let words = LaneWords.valid.filter { $0.running > 0 }
    expectNoFaults(in: words, ofWidths: LaneWords.widths) { word, width in
      let (next, action) = word.leftShared(width: width)
      var faults = next.running == word.running - 1 ? [] : ["miscounted"]
      switch action {
      case .nothing: faults += LaneWords.faults(word, next, mayChange: LaneWords.runningMask)
      case .advance:
        faults += LaneWords.faults(
          word, next,
          mayChange: LaneWords.runningMask | LaneState.locked | LaneState.barrier
            | LaneState.batch)
        if next.fellAsleep() != nil { faults.append("lets a thread fall asleep") }
        if word.isLocked || word.isSuspended || !word.hasWork || !next.isLocked {
          faults.append("\(LaneWords.describe(word)) has nothing to advance")
        }
        if word.awaitsBarrier && next.running > 0 { faults.append("a barrier beside others") }
        if next.running >= width { faults.append("has no room to admit") }
      case .releaseSelf:
        faults += LaneWords.faults(
          word, next, mayChange: LaneWords.runningMask | LaneState.held)
        if !word.isHeld || next.isHeld || next.running > 0 { faults.append("released too early") }
      }
      if word.isHeld && !next.isHeld && action != .releaseSelf { faults.append("leaked itself") }
      return faults
    }
  }

  @Test(arguments: [false, true])
  func `is released by an exclusive sync`(isSerial: Bool) {
    let words = LaneWords.valid.filter { $0.isLocked && !$0.isHeld && $0.running == 0 }
    expectNoFaults(in: words) { word in
      let (next, owns, wake) = word.leftExclusive(isSerial: isSerial)
      var faults = LaneWords.faults(
        word, next,
        mayChange: LaneState.locked | LaneState.sleepers
          | (owns ? LaneState.batch : word.hasWork ? 0 : LaneState.urgencyMask))
      if owns && next.fellAsleep() != nil { faults.append("lets a thread fall asleep") }
      if owns != next.isLocked {
        faults.append("\(LaneWords.describe(word)): lock and owner differ")
      }
      if owns != (word.hasWork && !word.isSuspended) { faults.append("left work behind") }
      if next.hasSleepers { faults.append("forgot to wake") }
      if (wake != .nothing) != word.hasSleepers { faults.append("woke the wrong number") }
      if word.hasSleepers && (word.hasWork || !isSerial) && wake != .wakeAll {
        faults.append("\(LaneWords.describe(word)): not all were woken")
      }
      return faults
    }
  }

  /// The words of an owner that drains the list. Lane+Drain says when it may release the lane.
  private static let owners = LaneWords.valid.filter { $0.isLocked && !$0.hasSleepers }

  @Test func `is released with nothing queued`() {
    expectNoFaults(in: Self.owners.filter { $0.pending == nil }) { word in
      let next = word.givenUp(hasBatch: false)
      let owned =
        LaneState.locked | LaneState.batch | LaneState.barrier | LaneState.held
        | LaneState.urgencyMask
      return LaneWords.faults(word, next, mayChange: owned)
        + (next.isLocked || next.hasBatch ? ["not given up"] : [])
        + (next.isHeld == (word.isHeld && word.running > 0) ? [] : ["miscounts its hold"])
    }
  }

  @Test(arguments: [false, true])
  func `is released because it is suspended`(hasBatch: Bool) {
    expectNoFaults(in: Self.owners.filter(\.isSuspended)) { word in
      let next = word.givenUp(hasBatch: hasBatch, urgency: hasBatch ? .default : .unspecified)
      let owned =
        LaneState.locked | LaneState.batch | LaneState.barrier | LaneState.held
        | LaneState.urgencyMask
      return LaneWords.faults(word, next, mayChange: owned)
        + (next.hasBatch == hasBatch ? [] : ["lost sight of the private list"])
        + (next.urgency >= (word.pending == nil ? .unspecified : word.urgency)
          ? [] : ["forgot how urgent what is pending may be"])
        + (hasBatch && next.urgency < .default ? ["forgot how urgent the list is"] : [])
    }
  }

  @Test(arguments: [false, true])
  func `is released with a node first in line`(awaitsBarrier: Bool) {
    let words = Self.owners.filter {
      awaitsBarrier ? $0.running > 0 : $0.running >= LaneState.defaultWidth
    }
    expectNoFaults(in: words) { word in
      let next = word.givenUp(hasBatch: true, awaitsBarrier: awaitsBarrier)
      let owned =
        LaneState.locked | LaneState.batch | LaneState.barrier | LaneState.urgencyMask
      return LaneWords.faults(word, next, mayChange: owned)
        + (next.awaitsBarrier == awaitsBarrier && next.hasBatch ? [] : ["forgot the first in line"])
    }
  }

  @Test(arguments: [false, true])
  func `is handed over to a waiter`(hasBatch: Bool) {
    expectNoFaults(in: Self.owners.filter { $0.running == 0 }) { word in
      let next = word.handedOver(hasBatch: hasBatch, urgency: hasBatch ? .default : .unspecified)
      return LaneWords.faults(
        word, next, mayChange: LaneState.held | LaneState.batch | LaneState.urgencyMask)
        + (!next.hasWork && next.urgency != .unspecified ? ["urgent with nothing queued"] : [])
        + (next.isLocked && !next.isHeld && next.hasBatch == hasBatch ? [] : ["not handed over"])
    }
  }

  @Test(arguments: [false, true], [1, 3])
  func `admits more shared holders`(areItems: Bool, count: Int) {
    expectNoFaults(in: Self.owners, ofWidths: LaneWords.widths) { word, width in
      guard let (next, admitted) = word.admitted(count, areItems: areItems, width: width) else {
        return word.running < width ? ["is full too early"] : []
      }
      if next.running > width { return ["let in more than may be"] }
      if admitted < count && next.running < width { return ["let in fewer than have room"] }
      let isCounted =
        next.running == word.running + admitted && next.isHeld == (word.isHeld || areItems)
      return isCounted && admitted > 0 ? [] : ["miscounts"]
    }
  }

  @Test func `continues after a suspension`() {
    expectNoFaults(in: LaneWords.valid.filter(\.isSuspended)) { word in
      let (next, owns) = word.unsuspended()
      let owned =
        LaneState.suspended | LaneState.counted
        | (owns ? LaneState.locked | LaneState.barrier | LaneState.batch : 0)
      var faults = LaneWords.faults(word, next, mayChange: owned)
      if next.isSuspended || next.isBound { faults.append("is still suspended, or bound") }
      if owns && (word.isLocked || !word.hasWork || !next.isLocked) {
        faults.append("\(LaneWords.describe(word)) owns what is another's")
      }
      return faults
    }
  }

  @Test func `resumes at once without work as it does in full`() {
    expectNoFaults(in: LaneWords.valid.filter { !$0.isBound }) { word in
      let full = word.resumedOnce()
      guard let next = word.resumedIdle() else {
        return full == nil || word.hasWork ? [] : ["\(LaneWords.describe(word)) was not resumed"]
      }
      guard let full else { return ["was resumed without a suspension of its own"] }
      return next == full.state && !full.owns ? [] : ["\(LaneWords.describe(word)) differs"]
    }
  }

  @Test func `is suspended once, and resumed from that`() {
    expectNoFaults(in: LaneWords.valid.filter { !$0.isBound }) { word in
      guard let next = word.suspendedOnce() else {
        let resumed = word.resumedOnce()
        if word.isCounted == (resumed != nil) { return ["goes by the word in place of the count"] }
        return word.isSuspended ? [] : ["\(LaneWords.describe(word)) was not suspended"]
      }
      var faults = LaneWords.faults(word, next, mayChange: LaneState.suspended)
      if word.resumedOnce() != nil { faults.append("was resumed without a suspension") }
      if !next.isSuspended || next.isCounted { faults.append("is not suspended once") }
      return faults
    }
  }

  @Test(arguments: [Band.background, .default, .userInteractive])
  func `is boosted for a waiter, and only while one can wait`(band: Band) {
    expectNoFaults(in: LaneWords.valid) { word in
      guard let next = word.raised(to: band) else {
        let canWait = word.hasWork || word.isLocked && word.isHeld
        return band > word.urgency && canWait ? ["\(LaneWords.describe(word)) was not raised"] : []
      }
      return LaneWords.faults(word, next, mayChange: LaneState.urgencyMask)
        + (next.urgency == band && band > word.urgency ? [] : ["raised to something else"])
    }
  }

  @Test func `lets sleepers be woken`() {
    expectNoFaults(in: LaneWords.valid) { word in
      guard let next = word.roused() else { return word.hasSleepers ? ["sleeps on"] : [] }
      return LaneWords.faults(word, next, mayChange: LaneState.sleepers)
        + (next.lowHalf != word.lowHalf ? [] : ["a thread about to sleep does not notice"])
    }
  }

  @Test func `keeps its invariants when it is suspended`() {
    expectNoFaults(in: LaneWords.valid) { word in
      LaneWords.faults(
        word, LaneState(rawValue: word.rawValue | LaneState.suspended),
        mayChange: LaneState.suspended)
    }
  }
}
