// Room: Pool/PromptTurns. Decides whether a worker's thread should be prompt: have a short slice,
// so that the kernel runs it as soon as it wakes up (ThreadPolicy/ClassEffects). A turn is what a
// worker does between two sleeps. It is seldom and brief if the sleep before was long and it ran
// one node. A worker whose turns are mostly so becomes prompt. A worker that is woken often does
// not: where no CPU is free it would interrupt the thread that submits, at each item, instead of
// running all of them when that thread sleeps or its slice ends.
// Each change is a system call of some microseconds, so it takes several turns of the other kind.

struct PromptTurns {
  private(set) var isPrompt = false
  private var score = 0

  static var most: Int { 8 }

  /// Notes a turn. Returns whether `isPrompt` has changed.
  mutating func note(isSeldomAndBrief: Bool) -> Bool {
    score = max(0, min(Self.most, score + (isSeldomAndBrief ? 1 : -1)))
    guard score == (isPrompt ? 0 : Self.most) else { return false }
    isPrompt.toggle()
    return true
  }
}
