// Room: ModelChecker/Execution. One run of the checked program: its threads as fibers, one running
// at a time. A thread runs until its next step and stops there, with the step pending, until the
// search chooses it. The search runs on the stack of the thread that has just moved, so choosing a
// thread twice in a row costs no switch.
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
  /// Retained by the check that runs this execution.
  private let search: Unmanaged<Search>
  let mutations: MutationTable
  /// The options' limit, and at most the limit of the clocks.
  private let maxSteps: Int
  let threads: UnsafeMutablePointer<ModelThread>
  /// The number of threads. Number 0 is the stage, which sets up the scene and runs the verdict.
  var threadCount = 1
  /// The thread whose code is running.
  var running = 0
  private var isOnFiber = false
  /// The caller of the check, outside of all fibers.
  private let outside = UnsafeMutablePointer<gc_fiber>.allocate(capacity: 1)
  /// The thread that is bringing a new thread to its first step.
  private var starter: Int?
  /// Whether the search schedules the threads: from the end of the scene's setup to the end of the
  /// threads.
  private(set) var isScheduling = false
  /// Whether daemons are finishing, after the verdict.
  var isWindingDown = false
  var sleepsLeft = 0

  /// The number of this execution; locations with an older number restart.
  private(set) var number: UInt64 = 0
  var stepCount = 0
  /// The virtual clock. A deadline that ends a sleep moves it.
  var nanoseconds: UInt64 = Execution.firstNanosecond
  private static var firstNanosecond: UInt64 { 1_000_000_000_000 }
  var failure: String?
  var trace: Trace?
  var visits: Visits?
  private var sleepTurns: UInt64 = 0
  var locationNumbers: Int32 = 0

  /// Locations that no object owns any more, kept to detect a late use.
  var dead: [UnsafeMutablePointer<Location>] = []
  var spare: [UnsafeMutablePointer<Location>] = []
  var liveLocations = 0
  /// The number of objects that models count themselves.
  var liveThings = 0

  private static var stackBytes: Int { 256 * 1024 }

  init(options: Options, search: Search) {
    self.options = options
    self.search = Unmanaged.passUnretained(search)
    mutations = MutationTable(options.mutations)
    CellMutations.areThere = !mutations.isEmpty
    maxSteps = min(options.maxSteps, Threads.maxSteps)
    outside.initialize(to: gc_fiber())
    threads = .allocate(capacity: Threads.maxCount)
    for index in 0..<Threads.maxCount { (threads + index).initialize(to: ModelThread()) }
    FiberStacks.lend(to: threads, bytes: Self.stackBytes)
    gc_fiber_catch_signals(
      { Execution.current?._withUnsafeGuaranteedRef { $0.isOnFiber } ?? false },
      { signal in
        Execution.current?._withUnsafeGuaranteedRef { (execution: Execution) -> Void in
          execution.fail(Execution.words(forSignal: signal))
        }
      })
  }

  /// Calls the search without counting a reference to it.
  @inline(__always)
  func withSearch<Result>(_ body: (Search) -> Result) -> Result {
    search._withUnsafeGuaranteedRef(body)
  }

  /// Records that the current step has been made.
  @inline(__always)
  func record(_ kind: Step.Kind, _ location: UnsafeMutablePointer<Location>?) {
    withSearch { $0.record(kind, location, in: self) }
  }

  /// Chooses an outcome of the current step.
  @inline(__always)
  func choice(of choices: Int) -> Int { withSearch { $0.choice(of: choices) } }

  /// Frees its resources. A deinit would be unreliable: fibers that were abandoned in the middle of
  /// a call may retain the execution for ever.
  func end() {
    FiberStacks.takeBack(from: threads)
    threads.deinitialize(count: Threads.maxCount)
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

  /// Prepares for another run. Everything of the last one has ended.
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

  /// Runs `body` on the stage. Returns when it has returned or the execution has failed.
  func perform(_ body: @escaping () -> Void) {
    prepare(0, "the stage", false, body)
    isOnFiber = true
    gc_fiber_switch(outside, &threads[0].fiber)
    isOnFiber = false
    abandon()
  }

  /// Runs all threads to their ends, as the search schedules them. Called on the stage.
  func runThreads() {
    // The stage's steps happen before the threads', including those after the threads' creation.
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
    // The threads' steps happen before the verdict.
    for thread in 1..<max(1, threadCount) { threads[0].memory.join(threads[thread].memory) }
    threads[0].memory[0] &+= 1
  }

  /// Creates a thread. During scheduling it runs up to its first step at once, which no other
  /// thread can observe.
  func addThread(_ name: String, isDaemon: Bool, _ body: @escaping () -> Void) {
    guard threadCount < Threads.maxCount else {
      fail("A model has at most \(Threads.maxCount - 1) threads.")
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

  /// The loop of a fiber: it runs one body after another, over successive executions.
  private static func live(on number: Int) -> Never {
    while true {
      withCurrent { execution in
        // The body is kept until all threads have ended. Reference counts are not steps, and they
        // decide which thread drops the last reference to shared objects. If the body were released
        // here, that end would depend on every use of the objects by other threads.
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
    // A thread that is being brought to its first step may create another one on its way.
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

  // MARK: Scheduling

  /// Called before a step of the running thread. Returns when the search has chosen the thread.
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

  /// Lets the search choose threads until it chooses `number`.
  func giveTurn(from number: Int) {
    let next = next(after: number) ?? 0
    if next != number { run(next, insteadOf: number) }
  }

  /// Returns the thread that moves next; `nil` if none can.
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
    if stepCount > maxSteps {
      recordFailure(
        """
        Livelock: \(maxSteps) steps and no end. Either threads keep each other busy for ever, or \
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

  /// No thread can move, so time advances to the first deadline.
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

  /// Puts the running thread to sleep on a word. Returns false if its deadline ended the sleep.
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
    // Chosen: because of an earlier wake-up, or to time out now.
    guard threads[number].state == .asleep else {
      record(threads[number].pending.kind, threads[number].pending.location)
      return true
    }
    threads[number].state = .ready
    if threads[number].timeOutsLeft > 0 {
      threads[number].timeOutsLeft -= 1
    } else {
      // Time advanced because no other thread could move: this step comes after all their steps.
      for index in 1..<threadCount { threads[number].order.join(threads[index].order) }
    }
    if let deadline { nanoseconds = max(nanoseconds, deadline) }
    record(.timeOut, location)
    trace?.note("\(threads[number].name): its deadline ends the sleep", site)
    return false
  }

  /// Wakes the threads that have slept longest on a word.
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
      // If its deadline could have ended the sleep, its next step could be chosen all the time, and
      // so races with this step.
      if !mayTimeOut(oldest) {
        threads[oldest].pending = Step(
          kind: .local, location: nil, site: threads[oldest].pending.site)
        // For the search, the woken thread's next step comes after the wake-up; memory learns
        // nothing from it.
        threads[oldest].order.join(threads[running].order)
      }
      left -= 1
    }
  }

  // MARK: End of an execution

  func recordFailure(_ message: String) {
    if failure == nil { failure = message }
  }

  /// Ends the execution at this point. The stacks of its threads are lost.
  func fail(_ message: String) -> Never {
    recordFailure(message)
    isScheduling = false
    // Never continues: abandon() restarts the fiber.
    gc_fiber_switch(&threads[running].fiber, outside)
    fatalError("ModelChecker: an execution continued after its failure.")
  }

  /// Threads that have not finished will not continue: their stacks are reused.
  func abandon() {
    starter = nil
    for index in 0..<threadCount where threads[index].state != .unused {
      if threads[index].state != .finished { threads[index].needsNewStack = true }
      threads[index].body = nil
    }
  }
}
