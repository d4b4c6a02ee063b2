// Room: ModelChecker/Execution. One run of the checked program: its threads as fibers, one at a time.
// A thread runs until it is about to take a step; there it stands, with the step pending, until the search
// chooses it. The search is asked on the stack of whoever has just moved, so a thread that is chosen
// twice in a row costs no switch.
import CFibers

final class Execution: @unchecked Sendable {
  // The checker runs one model at a time, on one thread of the machine.
  nonisolated(unsafe) static var current: Unmanaged<Execution>?

  @inline(__always)
  static func withCurrent<Result>(_ body: (Execution) -> Result) -> Result {
    guard let current else {
      fatalError("ModelChecker: a model's atomics are used outside of a check.")
    }
    return current._withUnsafeGuaranteedRef(body)
  }

  let options: Options
  /// The check that runs this execution keeps it.
  private let search: Unmanaged<Search>
  let mutations: MutationTable
  /// As many as the options say, and no more than clocks can count.
  private let mostSteps: Int
  let threads: UnsafeMutablePointer<ModelThread>
  /// Threads that exist; number 0 is the stage, which sets the scene and judges.
  var threadCount = 1
  /// Whose code is running.
  var running = 0
  private var isOnFiber = false
  /// Whoever runs the check, outside of all fibers.
  private let outside = UnsafeMutablePointer<gc_fiber>.allocate(capacity: 1)
  /// A thread is being brought to its first step, on behalf of this one.
  private var starter: Int?
  /// Whether threads take turns: from the end of the scene's setting to the end of its threads.
  private(set) var isScheduling = false
  /// Whether daemons come to their ends, after the verdict.
  var isWindingDown = false
  var sleepsLeft = 0

  /// Numbers executions; locations that are older begin anew.
  private(set) var number: UInt64 = 0
  var stepCount = 0
  /// The virtual clock, which moves when a deadline ends a sleep.
  var nanoseconds: UInt64 = Execution.firstNanosecond
  private static var firstNanosecond: UInt64 { 1_000_000_000_000 }
  var failure: String?
  var trace: Trace?
  var visits: Visits?
  private var sleepTurns: UInt64 = 0
  var locationNumbers: Int32 = 0

  /// Locations that no object has any more, kept so that a late use of one is noticed.
  var dead: [UnsafeMutablePointer<Location>] = []
  var spare: [UnsafeMutablePointer<Location>] = []
  var liveLocations = 0
  /// What models count themselves.
  var liveThings = 0

  private static var stackBytes: Int { 256 * 1024 }

  init(options: Options, search: Search) {
    self.options = options
    self.search = Unmanaged.passUnretained(search)
    mutations = MutationTable(options.mutations)
    CellMutations.areThere = !mutations.isEmpty
    mostSteps = min(options.mostSteps, Threads.mostSteps)
    outside.initialize(to: gc_fiber())
    threads = .allocate(capacity: Threads.most)
    for index in 0..<Threads.most { (threads + index).initialize(to: ModelThread()) }
    FiberStacks.lend(to: threads, bytes: Self.stackBytes)
    gc_fiber_catch_signals(
      { Execution.current?._withUnsafeGuaranteedRef { $0.isOnFiber } ?? false },
      { signal in
        Execution.current?._withUnsafeGuaranteedRef { (execution: Execution) -> Void in
          execution.fail(Execution.words(forSignal: signal))
        }
      })
  }

  /// Asks the search without counting a reference to it.
  @inline(__always)
  func withSearch<Result>(_ body: (Search) -> Result) -> Result {
    search._withUnsafeGuaranteedRef(body)
  }

  /// The step at work has been made.
  @inline(__always)
  func record(_ kind: Step.Kind, _ location: UnsafeMutablePointer<Location>?) {
    withSearch { $0.record(kind, location, in: self) }
  }

  /// One of so many outcomes of the step at work.
  @inline(__always)
  func choice(of choices: Int) -> Int { withSearch { $0.choice(of: choices) } }

  /// Gives back what it has. Its own memory is not the place for this: fibers that were abandoned in the middle
  /// of a call may hold on to it for ever.
  func end() {
    FiberStacks.takeBack(from: threads)
    threads.deinitialize(count: Threads.most)
    threads.deallocate()
    outside.deallocate()
    for location in dead + spare {
      location.pointee.stores.deallocate()
      location.deallocate()
    }
  }

  private static func words(forSignal signal: Int32) -> String {
    "The program was stopped by signal \(signal): a trap, or a use of memory that is not there."
  }

  // MARK: One run

  /// Prepares for another run. Everything of the last one is gone.
  func begin(number: UInt64) {
    self.number = number
    stepCount = 0
    nanoseconds = Self.firstNanosecond
    failure = nil
    isWindingDown = false
    sleepTurns = 0
    locationNumbers = 0
    for index in 0..<threadCount {
      threads[index].state = .unused
      threads[index].body = nil
    }
    threadCount = 1
    running = 0
    threads[0].state = .ready
    threads[0].memory = .zero
    threads[0].memory[0] = 1
    threads[0].order = .zero
    spare.append(contentsOf: dead)
    dead.removeAll(keepingCapacity: true)
  }

  /// Runs `body` on the stage. Returns when it has, or when something has failed.
  func perform(_ body: @escaping () -> Void) {
    prepare(0, "the stage", false, body)
    isOnFiber = true
    gc_fiber_switch(outside, &threads[0].fiber)
    isOnFiber = false
    abandon()
  }

  /// Runs all threads to their ends, as the search wants them. On the stage.
  func runThreads() {
    // The threads begin after all that the stage has done, also after they were made.
    for thread in 1..<max(1, threadCount) {
      threads[thread].memory.join(threads[0].memory)
    }
    threads[0].memory[0] &+= 1
    isScheduling = true
    for thread in 1..<max(1, threadCount) where failure == nil { bringToFirstStep(thread) }
    if failure == nil, let first = next(after: 0) { run(first, insteadOf: 0) }
    isScheduling = false
    running = 0
    for thread in 1..<max(1, threadCount) where threads[thread].state == .finished {
      threads[thread].body = nil
    }
    // What the threads did has happened before the verdict.
    for thread in 1..<max(1, threadCount) { threads[0].memory.join(threads[thread].memory) }
    threads[0].memory[0] &+= 1
  }

  /// Makes a thread. While threads take turns it runs up to its first step at once: nobody can tell.
  func addThread(_ name: String, isDaemon: Bool, _ body: @escaping () -> Void) {
    guard threadCount < Threads.most else {
      fail("A model has at most \(Threads.most - 1) threads.")
    }
    let number = threadCount
    threadCount += 1
    prepare(number, name, isDaemon, body)
    threads[number].memory = threads[running].memory
    threads[number].memory[number] = 1
    threads[number].order = threads[running].order
    threads[running].memory[running] &+= 1
    if isScheduling { bringToFirstStep(number) }
  }

  private func prepare(
    _ number: Int, _ name: String, _ isDaemon: Bool, _ body: @escaping () -> Void
  ) {
    let thread = threads + number
    thread.pointee.state = .ready
    thread.pointee.isDaemon = isDaemon
    thread.pointee.name = name
    thread.pointee.body = body
    thread.pointee.deadline = nil
    thread.pointee.timeOutsLeft = options.timeOuts
    thread.pointee.spuriousWakesLeft = options.spuriousWakes
    thread.pointee.spuriousFailuresLeft = options.spuriousFailures
    thread.pointee.refusalsLeft = options.refusals
    thread.pointee.pending = Step(kind: .local, location: nil, site: .none)
    guard thread.pointee.needsNewStack else { return }
    guard let stack = thread.pointee.stack else {
      fatalError("ModelChecker: no memory for a stack.")
    }
    gc_fiber_prepare(
      &thread.pointee.fiber, stack, Self.stackBytes,
      { raw in Execution.live(on: Int(bitPattern: raw)) },
      UnsafeMutableRawPointer(bitPattern: number))
    thread.pointee.needsNewStack = false
  }

  /// The life of a fiber: one body after the other, of one execution after the other.
  private static func live(on number: Int) -> Never {
    while true {
      withCurrent { execution in
        // The body is kept until all threads have ended. Which of several threads lets go of what they share
        // last is up to reference counts, which are no steps: were it let go of here, its end would
        // depend on every use of it by the others.
        execution.threads[number].body?()
        execution.finish(number)
      }
    }
  }

  private func finish(_ number: Int) {
    threads[number].state = .finished
    if number == 0 { return gc_fiber_switch(&threads[0].fiber, outside) }
    if let starter { return comeBack(to: starter, from: number) }
    if isWindingDown { return run(0, insteadOf: number) }
    run(next(after: number) ?? 0, insteadOf: number)
  }

  private func bringToFirstStep(_ number: Int) {
    // A thread that is being brought there may itself make another one on its way.
    let outer = starter
    starter = running
    run(number, insteadOf: running)
    starter = outer
  }

  private func comeBack(to maker: Int, from number: Int) {
    starter = nil
    run(maker, insteadOf: number)
  }

  func run(_ next: Int, insteadOf last: Int) {
    running = next
    gc_fiber_switch(&threads[last].fiber, &threads[next].fiber)
  }

  // MARK: Taking turns

  /// The running thread is about to take a step. Returns when the search has chosen it.
  @inline(__always)
  func reach(_ kind: Step.Kind, _ location: UnsafeMutablePointer<Location>?, _ site: Site) {
    let number = running
    threads[number].pending = Step(kind: kind, location: location, site: site)
    if let starter {
      comeBack(to: starter, from: number)
    } else {
      giveTurn(from: number)
    }
  }

  /// Lets the search choose who moves next, until it is `number`.
  func giveTurn(from number: Int) {
    let next = next(after: number) ?? 0
    if next != number { run(next, insteadOf: number) }
  }

  /// Who moves next; `nil` when nobody can.
  private func next(after last: Int) -> Int? {
    var enabled: ThreadSet = 0
    var dozing: ThreadSet = 0
    var isUnfinished = false
    for index in 1..<threadCount {
      switch threads[index].state {
      case .ready: enabled |= .one(index)
      case .asleep:
        if mayTimeOut(index) { dozing |= .one(index) }
        if !threads[index].isDaemon { isUnfinished = true }
      case .unused, .finished: break
      }
    }
    enabled |= dozing
    if enabled == 0 {
      guard isUnfinished else { return nil }
      guard let late = threadWithNextDeadline() else {
        recordFailure(Report.deadlock(self))
        return nil
      }
      enabled = .one(late)
      dozing = enabled
    }
    stepCount += 1
    if stepCount > mostSteps {
      recordFailure(
        """
        Livelock: \(mostSteps) steps and no end. Either threads keep each other busy for ever, or \
        the model is larger than its limit on steps.
        """)
      return nil
    }
    return withSearch { $0.choose(among: enabled, dozing: dozing, after: last, in: self) }
  }

  /// Whether the deadline of a sleeping thread may end its sleep at any time.
  private func mayTimeOut(_ number: Int) -> Bool {
    threads[number].deadline != nil && threads[number].timeOutsLeft > 0
  }

  /// Nobody can move, so time passes until the first deadline.
  private func threadWithNextDeadline() -> Int? {
    guard options.timePasses else { return nil }
    var best: Int?
    for index in 1..<threadCount where threads[index].state == .asleep {
      guard let deadline = threads[index].deadline else { continue }
      if let known = best, threads[known].deadline.map({ $0 <= deadline }) ?? false { continue }
      best = index
    }
    return best
  }

  /// Puts the running thread to sleep on a word. Returns false when its deadline ended the sleep.
  func sleep(on location: UnsafeMutablePointer<Location>, until deadline: UInt64?, _ site: Site)
    -> Bool
  {
    let number = running
    sleepTurns += 1
    threads[number].state = .asleep
    threads[number].deadline = deadline
    threads[number].asleepSince = sleepTurns
    threads[number].pending = Step(kind: .timeOut, location: location, site: site)
    giveTurn(from: number)
    if isWindingDown { return false }
    // Chosen: by a wake-up that came before, or to time out now.
    guard threads[number].state == .asleep else {
      record(threads[number].pending.kind, threads[number].pending.location)
      return true
    }
    threads[number].state = .ready
    if threads[number].timeOutsLeft > 0 {
      threads[number].timeOutsLeft -= 1
    } else {
      // Time passed because nobody else could move: this comes after all that anybody did.
      for index in 1..<threadCount { threads[number].order.join(threads[index].order) }
    }
    if let deadline { nanoseconds = max(nanoseconds, deadline) }
    record(.timeOut, location)
    trace?.note("\(threads[number].name): its deadline ends the sleep", site)
    return false
  }

  /// Wakes those that have slept longest on a word.
  func wake(_ location: UnsafeMutablePointer<Location>, count: Int) {
    var left = count
    while left > 0 {
      var oldest: Int?
      for index in 1..<threadCount
      where threads[index].state == .asleep && threads[index].pending.location == location {
        if let known = oldest, threads[known].asleepSince < threads[index].asleepSince { continue }
        oldest = index
      }
      guard let oldest else { return }
      threads[oldest].state = .ready
      // Where its deadline might have come first, its next step was there to be chosen all the time: it races
      // with this one.
      if !mayTimeOut(oldest) {
        threads[oldest].pending = Step(
          kind: .local, location: nil, site: threads[oldest].pending.site)
        // What the woken thread does comes after the wake-up, for the search; memory learns nothing by it.
        threads[oldest].order.join(threads[running].order)
      }
      left -= 1
    }
  }

  // MARK: Ends

  func recordFailure(_ message: String) {
    if failure == nil { failure = message }
  }

  /// Ends the execution where it stands. The stacks of its threads are lost.
  func fail(_ message: String) -> Never {
    recordFailure(message)
    isScheduling = false
    // Never continued: abandon() has the fiber begin anew.
    gc_fiber_switch(&threads[running].fiber, outside)
    fatalError("ModelChecker: an execution that has failed went on.")
  }

  /// Threads that have not finished will not go on: their stacks are used anew.
  func abandon() {
    starter = nil
    for index in 0..<threadCount where threads[index].state != .unused {
      if threads[index].state != .finished { threads[index].needsNewStack = true }
      threads[index].body = nil
    }
  }
}
