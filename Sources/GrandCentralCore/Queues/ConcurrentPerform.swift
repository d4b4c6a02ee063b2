// Room: Queues/ConcurrentPerform. A loop whose iterations run on as many threads as there are CPUs.
// The caller and up to width - 1 helpers from the pool claim iterations in chunks that shrink
// towards the end (guided self-scheduling, Polychronopoulos and Kuck, 1987). Large chunks come
// first and keep the overhead small; small chunks come last, so all threads end together. The first
// chunk is a sixteenth of a fair share, which balances a loop whose first iterations are the
// heaviest; a million iterations are still only some hundred claims. A small count is claimed one
// by one, so that iterations that wait for each other meet where there are threads for them.
// Invariant: the caller's closure does not escape. A helper touches it only between a successful
// claim and the matching addition to `done`; the caller returns only when `done` is complete. A
// later helper finds nothing to claim.
// The caller submits two helpers. Each one submits two more before it helps, while there is
// something to claim. So a loop that ends after a microsecond wakes one thread, not one for each
// CPU.
// The caller can finish the loop without helpers, so nested loops cannot block. A nested loop
// starts without them (Queues/LoneStart). Loops on a queue that the caller is inside cannot block
// either: it keeps its own permit. On a queue of limited width it takes permits for the helpers
// before the loop, as many as are free, and gives them back after it (Lanes/Lane+Width): so a loop
// never waits for room, nor begins without helpers because those of the last one are still leaving.

/// The caller's closure as a stored property: see HeldClosure.
@usableFromInline
struct PerformBody {
  @usableFromInline let call: (Int) -> Void
  @inlinable init(call: @escaping (Int) -> Void) { self.call = call }
}

@usableFromInline
final class PerformState: @unchecked Sendable {
  private let next: Atomic<Int>
  private let done: Atomic<Int>
  private let iterations: Int
  private let threads: Int
  /// How many helpers no thread has submitted yet; below 0, none.
  private let uninvited: Atomic<Int>
  private let qos: PackedQoS
  private let waiter: ThreadContext
  /// Whether threads in this loop start nested loops alone.
  private let isFull: Bool
  /// What that was for the waiter before this loop.
  private let wasInFullLoop: Bool
  /// The caller's closure, on its stack.
  private let body: UnsafePointer<PerformBody>

  /// - Parameters:
  ///   - first: the number of iterations that the waiter has already run.
  ///   - isFull: whether the loop uses all threads of the pool's width.
  init(
    iterations: Int, from first: Int = 0, threads: Int, isFull: Bool = false,
    waiter: ThreadContext, body: UnsafePointer<PerformBody>
  ) {
    next = Atomic(first)
    done = Atomic(first)
    wasInFullLoop = waiter.pointee.in_full_loop
    self.isFull = isFull || wasInFullLoop
    self.iterations = iterations
    self.threads = threads
    uninvited = Atomic(threads - 1)
    qos = PackedQoS(rawValue: waiter.pointee.qos)
    self.waiter = waiter
    self.body = body
    // Prepared before any helper knows this object. A caller that claims no iteration relies on it:
    // such a caller calls no closure that could wait and use the parker.
    Parker.prepare(waiter)
  }

  /// The size of a chunk, as a fraction of what is left for each thread.
  private static var chunksPerThread: Int { scaled(16, inModels: 1) }

  /// Claims the next chunk; empty when all are claimed.
  @usableFromInline
  func claim() -> Range<Int> {
    // relaxed: a claim publishes nothing; results are published by finish().
    var seen = next.load(ordering: .relaxed)
    while seen < iterations {
      let count = (iterations - seen) / (Self.chunksPerThread * threads)
      if count <= 1 { return claimOne() }
      let (won, now) = next.weakCompareExchange(
        expected: seen, desired: seen + count, ordering: .relaxed)
      if won { return seen..<seen + count }
      seen = now
    }
    return iterations..<iterations
  }

  /// Claims one iteration by an addition, which never fails: claims of single iterations are what
  /// many threads do at the same time. Past the end it claims nothing; `next` then grows by one
  /// for each thread.
  @inline(__always)
  private func claimOne() -> Range<Int> {
    let claimed = next.wrappingAdd(1, ordering: .relaxed).oldValue
    return claimed < iterations ? claimed..<claimed + 1 : iterations..<iterations
  }

  /// Counts `count` claimed iterations as run. Returns whether they were the last.
  private func finish(_ count: Int) -> Bool {
    // acquiringAndReleasing: what all iterations wrote reaches the thread that completes the count.
    done.wrappingAdd(count, ordering: .acquiringAndReleasing).newValue == iterations
  }

  /// Ends the caller's part: counts its `count` iterations and waits for those of the helpers.
  @usableFromInline
  func finishAndWait(_ count: Int, _ thread: ThreadContext) {
    thread.pointee.in_full_loop = wasInFullLoop
    // The thread that completes `done` ends the wait, so the caller must not add 0: it would see a
    // sum that a helper completed and return, and that helper's grant would be left over. With a
    // nonzero count, no helper can grant before the caller's addition, and the waits inside `work`
    // are over, so the parker may be prepared again.
    if count > 0 {
      Parker.prepare(thread)
      if finish(count) { return }
    }
    for _ in 0..<Tuning.grantSpins {
      if Parker.isGranted(thread) { return }
      spinHint()
    }
    Blocking.announced(thread, BoardWait(.loop)) { _ = Parker.sleep(thread) }
  }

  func help(on thread: ThreadContext) {
    let before = thread.pointee.in_full_loop
    thread.pointee.in_full_loop = isFull
    let count = runAll()
    thread.pointee.in_full_loop = before
    if count > 0 && finish(count) { Parker.grant(waiter) }
  }

  /// Runs chunks until none is left. Not inlined: every reference to the caller's closure is gone
  /// when this returns.
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

  /// Submits up to two helpers, if they may find something to claim.
  private func invite(from thread: ThreadContext) {
    for _ in 0..<2 {
      // relaxed: hints, and a count. Fewer than `threads` subtractions fail.
      guard next.load(ordering: .relaxed) < iterations, uninvited.load(ordering: .relaxed) > 0,
        uninvited.wrappingSubtract(1, ordering: .relaxed).oldValue > 0
      else { return }
      let node = NodeCache.take(thread)
      node.context = Unmanaged.passRetained(self).toOpaque()
      node.traits = WorkTraits(qos: qos)
      node.entry = { raw, thread in
        let node = WorkNode(raw)
        let state = Unmanaged<PerformState>.fromOpaque(node.context.unsafelyUnwrapped)
        NodeCache.put(node, thread)
        state._withUnsafeGuaranteedRef {
          $0.invite(from: thread)
          $0.help(on: thread)
        }
        state.release()
      }
      Runtime.shared.pool.submit(node, .items, band: qos.band, from: thread)
    }
  }

  /// Creates the state of a loop whose first iterations have run, and submits the first helpers.
  /// The loop runs on at most `most` threads.
  @usableFromInline
  static func begin(
    iterations: Int, after first: Int, atMost most: Int = .max,
    from thread: ThreadContext, body: UnsafePointer<PerformBody>
  ) -> PerformState {
    let pool = Runtime.shared.pool
    pool.followMask()
    let width = pool.width.load(ordering: .relaxed)
    let threads = min(width, most, iterations - first)
    let state = PerformState(
      iterations: iterations, from: first, threads: threads, isFull: threads >= width,
      waiter: thread, body: body)
    thread.pointee.in_full_loop = state.isFull
    state.invite(from: thread)
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
  /// Calls a closure once for each number below `iterations`, in parallel.
  ///
  /// The calling thread takes part and blocks until all calls have returned. Calls may run in any
  /// order and may nest. A call must not wait for another call of the same loop: on one CPU, and
  /// in the first microseconds of a nested loop, they run one after the other.
  ///
  /// - Parameters:
  ///   - iterations: the number of calls; a negative number stops the process.
  ///   - work: the closure, called with each number in 0 ..< iterations, on several threads.
  /// - Source: Apple, Dispatch, `DispatchQueue.concurrentPerform(iterations:execute:)`.
  @inlinable
  public class func concurrentPerform(iterations: Int, execute work: (Int) -> Void) {
    perform(iterations: iterations, atMost: .max, execute: work)
  }

  /// Does the same, on at most `most` threads.
  @inlinable @inline(__always)
  class func perform(iterations: Int, atMost most: Int, execute work: (Int) -> Void) {
    if iterations <= 1 {
      PerformState.check(iterations)
      if iterations == 1 { work(0) }
      return
    }
    let thread = currentThread()
    var first = 0
    if LoneStart.isDue(on: thread) {
      first = LoneStart.run(iterations, work)
      if first == iterations { return }
    }
    withoutActuallyEscaping(work) { shared in
      withUnsafePointer(to: PerformBody(call: shared)) { body in
        let state = PerformState.begin(
          iterations: iterations, after: first, atMost: most, from: thread, body: body)
        var count = 0
        var range = state.claim()
        while !range.isEmpty {
          // `work`, not `body`: the compiler can optimise the caller's own loop with its closure.
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
  /// A C function, called with its context and the number of the iteration.
  package typealias IterationFunction = @convention(c) (UnsafeMutableRawPointer?, Int) -> Void

  /// Calls `function` once for each number below `iterations`, as items of this queue.
  ///
  /// Returns when all calls have returned. They run one after the other if the queue, or one of
  /// its targets, is serial, and never more at a time than the queue and its targets admit. A call
  /// must not wait for an item of a queue of limited width: the loop keeps its permits to its end.
  package final func applyCall(
    iterations: Int, _ function: @escaping IterationFunction, _ context: UnsafeMutableRawPointer?
  ) {
    // The program is responsible for how its function uses the context on several threads.
    nonisolated(unsafe) let context = context
    if kind == .root {
      return Self.concurrentPerform(iterations: iterations) { function(context, $0) }
    }
    let loop = { self.loop(iterations) { function(context, $0) } }
    // A caller that is inside keeps its own permit: a wait for another permit might never end.
    let thread = currentThread()
    if kind == .concurrent && isHeldShared(by: thread) {
      withFrame(thread, as: .visiting, loop)
    } else {
      sync(execute: loop)
    }
  }

  /// Runs the loop. The caller is inside the queue for as long as any helper is.
  private final func loop(_ iterations: Int, _ call: @Sendable (Int) -> Void) {
    let width = narrowestWidth
    if width == 1 {
      for index in 0..<iterations { call(index) }
      return
    }
    if width == LaneState.defaultWidth { return loopInside(iterations, atMost: .max, call) }
    let thread = currentThread()
    let pool = Runtime.shared.pool
    pool.followMask()
    let wanted = min(width, pool.width.load(ordering: .relaxed), iterations) - 1
    withPermits(for: wanted, on: thread) { granted in
      loopInside(iterations, atMost: 1 + granted, call)
    }
  }

  /// Runs the loop on up to `most` threads, which show that they are inside the queue.
  private final func loopInside(
    _ iterations: Int, atMost most: Int, _ call: @Sendable (Int) -> Void
  ) {
    // The caller holds the lane, so the helpers' frames may refer to it.
    Self.perform(iterations: iterations, atMost: most) { index in
      withFrame(currentThread(), as: .visiting) { call(index) }
    }
  }
}
