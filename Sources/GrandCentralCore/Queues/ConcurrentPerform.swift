// Room: Queues/ConcurrentPerform. A loop whose iterations run on as many threads as there are CPUs.
// The caller and up to width - 1 helpers from the pool claim iterations in chunks that shrink towards the
// end (guided self-scheduling, Polychronopoulos and Kuck, 1987): large ones first for little overhead,
// small ones last so that all end together. The first is a sixteenth of a fair share, so that a loop whose
// first iterations are the heavy ones is balanced too; a million iterations are still only some hundred
// claims. A small count goes one by one, so that iterations which wait
// for each other still meet.
// The caller's closure does not escape: a helper touches it only between a claim that succeeded and the
// matching addition to `done`, and the caller returns only when `done` is complete. A helper that comes
// later finds nothing to claim. The caller needs no helper to finish, so nesting cannot block. No more can it on a
// queue that the caller is inside of: it goes on in its own place, and helpers that find none come later or in vain.

/// The caller's closure as a field: see HeldClosure.
@usableFromInline
struct PerformBody {
  @usableFromInline let call: (Int) -> Void
  @inlinable init(call: @escaping (Int) -> Void) { self.call = call }
}

@usableFromInline
final class PerformState: @unchecked Sendable {
  private let next = Atomic<Int>(0)
  private let done = Atomic<Int>(0)
  private let iterations: Int
  private let threads: Int
  private let waiter: ThreadContext
  /// The caller's closure, on its stack.
  private let body: UnsafePointer<PerformBody>

  init(
    iterations: Int, threads: Int, waiter: ThreadContext, body: UnsafePointer<PerformBody>
  ) {
    self.iterations = iterations
    self.threads = threads
    self.waiter = waiter
    self.body = body
    // Before any helper knows of it: for a caller that comes too late to claim anything, and so calls
    // nothing that could wait.
    Parker.prepare(waiter)
  }

  /// The next chunk, empty when all are claimed.
  @usableFromInline
  func claim() -> Range<Int> {
    // relaxed: a claim publishes nothing; results are published by finish().
    var seen = next.load(ordering: .relaxed)
    while seen < iterations {
      let remaining = iterations - seen
      let count = max(1, remaining / (16 * threads))
      let (won, now) = next.weakCompareExchange(
        expected: seen, desired: seen + count, ordering: .relaxed)
      if won { return seen..<seen + count }
      seen = now
    }
    return iterations..<iterations
  }

  /// `count` claimed iterations have run. True: they were the last.
  private func finish(_ count: Int) -> Bool {
    // acquiringAndReleasing: what all iterations wrote reaches whoever completes the count.
    done.wrappingAdd(count, ordering: .acquiringAndReleasing).newValue == iterations
  }

  /// The caller's end: `count` iterations were its own.
  @usableFromInline
  func finishAndWait(_ count: Int, _ thread: ThreadContext) {
    // Whoever completes `done` is the one that ends the wait, so an addition of nothing must not be made:
    // it would see a sum that another thread completed, and leave that one's grant lying about.
    // With a count of its own, nobody can grant before it is in, and the waits inside `work` are over.
    if count > 0 {
      Parker.prepare(thread)
      if finish(count) { return }
    }
    for _ in 0..<Tuning.grantSpins {
      if Parker.isGranted(thread) { return }
      spinHint()
    }
    Blocking.announced(thread) { _ = Parker.sleep(thread) }
  }

  func help() {
    let count = runAll()
    if count > 0 && finish(count) { Parker.grant(waiter) }
  }

  /// Not inlined: every reference to the caller's closure is gone when this returns.
  @inline(never)
  private func runAll() -> Int {
    var range = claim()
    var count = 0
    if range.isEmpty { return 0 }
    let call = body.pointee.call
    while !range.isEmpty {
      for index in range { call(index) }
      count += range.count
      range = claim()
    }
    return count
  }

  /// Sends helpers to the pool; or to `place`, a queue that the caller is inside of, so that no more run than it lets
  /// in.
  @usableFromInline
  static func begin(
    iterations: Int, in place: PerformPlace? = nil, from thread: ThreadContext,
    body: UnsafePointer<PerformBody>
  ) -> PerformState {
    let pool = Runtime.shared.pool
    pool.followMask()
    let most = min(pool.width.load(ordering: .relaxed), place?.width ?? .max)
    let threads = min(most, iterations)
    let state = PerformState(
      iterations: iterations, threads: threads, waiter: thread, body: body)
    let qos = PackedQoS(rawValue: thread.pointee.qos)
    for _ in 1..<max(1, threads) {
      let node = NodeCache.take(thread)
      node.context = Unmanaged.passRetained(state).toOpaque()
      node.traits = WorkTraits(qos: qos)
      node.entry = { raw, thread in
        let node = WorkNode(raw)
        let state = Unmanaged<PerformState>.fromOpaque(node.context.unsafelyUnwrapped)
        NodeCache.put(node, thread)
        state._withUnsafeGuaranteedRef { $0.help() }
        state.release()
      }
      if let place {
        place.queue.submit(node, from: thread)
      } else {
        pool.submit(node, .items, band: qos.band, from: thread)
      }
    }
    return state
  }

  @usableFromInline
  static func check(_ iterations: Int) {
    require(
      iterations >= 0,
      "concurrentPerform(iterations: \(iterations)): the number of iterations cannot be negative.")
  }
}

extension DispatchQueue {
  /// Calls a closure once for each number below `iterations`, at the same time where CPUs allow, and
  /// returns when all calls have returned.
  ///
  /// The calling thread takes part. Calls may run in any order; they may nest.
  ///
  /// - Parameters:
  ///   - iterations: the number of calls; negative stops the process with a message.
  ///   - work: called with 0 ..< iterations, on several threads.
  /// - Source: Apple, Dispatch, `DispatchQueue.concurrentPerform(iterations:execute:)`.
  @inlinable
  public class func concurrentPerform(iterations: Int, execute work: (Int) -> Void) {
    perform(iterations: iterations, in: nil, execute: work)
  }

  /// The same, with helpers in `place`.
  @inlinable @inline(__always)
  class func perform(iterations: Int, in place: PerformPlace?, execute work: (Int) -> Void) {
    if iterations <= 1 {
      PerformState.check(iterations)
      if iterations == 1 { work(0) }
      return
    }
    let thread = currentThread()
    withoutActuallyEscaping(work) { shared in
      withUnsafePointer(to: PerformBody(call: shared)) { body in
        let state = PerformState.begin(
          iterations: iterations, in: place, from: thread, body: body)
        var count = 0
        var range = state.claim()
        while !range.isEmpty {
          // `work`, not `body`: this loop is the caller's own and can be optimised with its closure.
          for index in range { work(index) }
          count &+= range.count
          range = state.claim()
        }
        state.finishAndWait(count, thread)
      }
    }
  }
}

extension DispatchQueue {
  /// A C function that is called with its context and a number.
  package typealias IterationFunction = @convention(c) (UnsafeMutableRawPointer?, Int) -> Void

  /// Calls `function` once for each number below `iterations`, as items of this queue that the caller waits for: one
  /// after the other if the queue, or one that it leads to, is serial, and never more than these let in.
  package final func applyCall(
    iterations: Int, _ function: @escaping IterationFunction, _ context: UnsafeMutableRawPointer?
  ) {
    // The program answers for what its function does with the context on several threads.
    nonisolated(unsafe) let context = context
    if kind == .root {
      return Self.concurrentPerform(iterations: iterations) { function(context, $0) }
    }
    let loop = { self.loop(iterations) { function(context, $0) } }
    // Who is inside goes on in his own place: for another he might wait for ever.
    let thread = currentThread()
    if kind == .concurrent && isHeldShared(by: thread) {
      withFrame(thread, as: .visiting, loop)
    } else {
      sync(execute: loop)
    }
  }

  /// The caller is inside, and is for as long as any helper is.
  private final func loop(_ iterations: Int, _ call: @Sendable (Int) -> Void) {
    let width = narrowestWidth
    if width == 1 {
      for index in 0..<iterations { call(index) }
      return
    }
    if width < LaneState.mostRunning {
      // Helpers that wait in line for a place would keep others from it, and most come in vain.
      let place = PerformPlace(queue: self, width: min(width, 1 + roomNow))
      return Self.perform(iterations: iterations, in: place, execute: call)
    }
    // So the lane is held, and may stand on the helpers' frames.
    Self.concurrentPerform(iterations: iterations) { index in
      withFrame(currentThread(), as: .visiting) { call(index) }
    }
  }
}

/// A queue that a loop's caller is inside of, and whose items the helpers are.
@usableFromInline
struct PerformPlace {
  let queue: DispatchQueue
  /// How many may be inside for the loop, with the caller.
  let width: Int
}
