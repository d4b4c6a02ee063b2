// Room: Pool/PromptTurns. Decides whether a worker's thread should be prompt: have a short slice,
// so that the kernel runs it as soon as it wakes up (ThreadPolicy/ClassEffects). A turn is what a
// worker does between two sleeps. It is seldom and brief if the sleep before was long, it ran one
// node, and no tick of the coarse clock passed. So a turn of a tick, some milliseconds, never
// counts as brief. A turn of 40 µs passes a tick once in a hundred times.
// A worker whose turns are mostly seldom and brief becomes prompt. One that computes for long does
// not: the kernel would interrupt it at each of its short slices. Nor does one that is woken often:
// where no CPU is free it would interrupt the thread that submits, at each item, instead of running
// all of them when that thread sleeps or its slice ends.
// Each change takes some microseconds in the kernel, so it takes several turns of the other kind.

struct PromptTurns {
  private(set) var isPrompt = false
  private var score = 0
  /// When the turn began, by the coarse clock; `nil`: it is noted already, or the thread is new.
  var began: UInt64?

  static var most: Int { 8 }

  /// Notes the end of a turn. Returns whether `isPrompt` has changed. `isForOne`: the sleep before
  /// it was long, and it ran at most one node.
  mutating func ended(isForOne: Bool, at now: UInt64) -> Bool {
    guard let began else { return false }
    self.began = nil
    score = max(0, min(Self.most, score + (isForOne && began == now ? 1 : -1)))
    guard score == (isPrompt ? 0 : Self.most) else { return false }
    isPrompt.toggle()
    return true
  }
}
