// Purpose: makes a legal random program from a seed: first the queues, then the steps of the
// drivers, then the activations of inactive queues, then meetings. It follows the rules of
// Legality.swift and Legality+BusyWaits.swift.

public struct Generator {
  /// The position of the next step; see LegalityChecker.Place.
  struct Place {
    var floor = -1
    var queue: Int?
    var isOnSharedThread = false
    var depth = 0
    /// The handles that this list of steps has submitted and not yet waited for, with their levels.
    var handles: [(item: Int, level: Int)] = []
    /// The items that were certainly submitted before this position, with their levels.
    var coming: [(item: Int, level: Int)] = []
  }

  var dice: Dice
  let capabilities: Capabilities
  let features: Features
  /// The dice for busy waits, separate so that programs without busy waits are unaffected.
  var waitDice: Dice
  /// The dice for tasks, separate so that programs without tasks are unaffected.
  var taskDice: Dice
  var program = Program(queues: [], drivers: [])
  var nextID = 0
  /// The number of steps that may still be generated.
  var budget: Int
  /// Every handle so far that may be cancelled. A cancellation may be at any position.
  var cancellable: [Int] = []
  /// The hierarchies that hold a meeting.
  var met: Set<Int> = []
  let levels: Int

  /// Returns program number `index` of the campaign `seed`.
  ///
  /// - Parameter busyPercent: the percentage of programs in which items wait busily for others.
  public static func program(
    seed: UInt64, index: Int, capabilities: Capabilities = .all,
    busyPercent: Int = defaultBusyPercent
  ) -> Program {
    var generator = Generator(
      seed: seed, index: index, capabilities: capabilities, busyPercent: busyPercent)
    return generator.make()
  }

  /// The default percentage. A busy wait takes milliseconds, as long as ten programs without one.
  public static let defaultBusyPercent = 3

  init(seed: UInt64, index: Int, capabilities: Capabilities, busyPercent: Int) {
    var dice = Dice(seed: seed, index: index)
    var features = Features(&dice, capabilities)
    waitDice = Dice(seed: ~seed, index: index)
    features.addBusyWaits(&waitDice, percent: busyPercent, capabilities)
    taskDice = Dice(seed: seed ^ 0x7461_736b, index: index)
    features.addTasks(&taskDice, capabilities)
    self.features = features
    self.capabilities = capabilities
    let levels = dice.within(1...3)
    // With one level, only drivers could wait busily.
    self.levels = features.contains(.busyWaits) ? max(2, levels) : levels
    // Most programs are small, so that they are quick to run and to understand.
    budget = dice.chance(15) ? dice.within(30...70) : dice.within(4...28)
    self.dice = dice
  }

  mutating func make() -> Program {
    makeQueues()
    for _ in 0..<dice.within(1...2) { program.groups.append(GroupSpec(level: dice.below(levels))) }
    for _ in 0..<dice.within(1...2) {
      program.semaphores.append(
        SemaphoreSpec(value: dice.within(0...2), level: dice.below(levels)))
    }
    let drivers = dice.within(1...3)
    let share = budget
    for number in 0..<drivers {
      budget = share * (number + 1) / drivers - share * number / drivers
      var place = Place()
      program.drivers.append(steps(atMost: budget, &place))
    }
    insertActivations()
    if features.contains(.meetings) { insertMeetings() }
    return program
  }

  private mutating func makeQueues() {
    let count = dice.within(1...7)
    for number in 0..<count { program.queues.append(queue(number)) }
    if features.contains(.mainQueue) {
      program.queues[count - 1] = QueueSpec(.main, level: dice.below(levels))
    }
    for number in 0..<count where program.queues[number].isPrivate && dice.chance(60) {
      program.queues[number].target = dice.pick(targets(of: number))
    }
  }

  private mutating func queue(_ number: Int) -> QueueSpec {
    let kind: QueueSpec.Kind =
      dice.chance(8) ? .global : dice.chance(55) ? .serial : .concurrent
    var spec = QueueSpec(kind, level: dice.below(levels))
    if spec.isPrivate {
      spec.isInactive = features.contains(.inactive) && dice.chance(25)
      if features.contains(.qos) && dice.chance(30) { spec.qos = dice.below(6) }
      if features.contains(.specifics) { spec.specifics = dice.below(1 << specificKeyCount) }
    } else if features.contains(.qos) {
      spec.qos = dice.within(1...5)
    }
    return spec
  }

  /// Returns the queues that `number` may target.
  func targets(of number: Int) -> [Int] {
    let level = program.queues[number].level
    return (number + 1..<max(number + 1, program.queues.count)).filter {
      program.queues[$0].level == level
    }
  }

  /// Whether a queue may get another target. Waits on its threads were generated for the first one.
  func mayLead(_ number: Int, to target: Int?) -> Bool {
    guard let target, program.isShared(target), !program.isShared(number) else { return true }
    return capabilities.isSuperset(of: [.blocksAnywhere, .startsWhateverRuns])
  }

  mutating func newID() -> Int {
    nextID += 1
    return nextID - 1
  }

  // MARK: Activations

  private mutating func insertActivations() {
    for number in program.queues.indices where program.queues[number].isInactive {
      let level = program.queues[number].level
      let driver = dice.below(program.drivers.count)
      let last = lastPlace(above: level, in: program.drivers[driver])
      let position = dice.below(last + 1)
      var target = program.queues[number].target
      if dice.chance(30) {
        target = dice.pick(targets(of: number))
        if !mayLead(number, to: target) { target = program.queues[number].target }
      }
      var op = Op.activate(id: newID(), queue: number, target: target)
      let higher = program.queues.indices.filter { program.queues[$0].level > level }
      if dice.chance(30), let queue = dice.pick(higher) {
        op = .submit(Submission(Item(newID(), [op]), queue: queue))
      }
      program.drivers[driver].insert(op, at: position)
    }
  }

  /// Returns the number of the driver's first steps that need no item of `level` or below.
  private func lastPlace(above level: Int, in ops: [Op]) -> Int {
    for (index, op) in ops.enumerated() where lowestWait(op) <= level { return index }
    return ops.count
  }

  /// Returns the lowest level for which the driver waits in this step.
  private func lowestWait(_ op: Op) -> Int {
    switch op {
    case .submit(let submission):
      guard submission.way.isInline else { return .max }
      let own =
        submission.way == .perform ? .max : program.queues[submission.queue].level
      return min(own, lowestWait(submission.item.body))
    case .waitGroup(_, let group, nil): return program.groups[group].level
    case .permit(_, let semaphore, let patience, let body):
      let own = patience == nil ? program.semaphores[semaphore].level : .max
      return min(own, lowestWait(body))
    case .handshake(_, let semaphore, _): return program.semaphores[semaphore].level
    case .suspended(_, _, let body): return lowestWait(body)
    case .iterate(_, let items): return items.map { lowestWait($0.body) }.min() ?? .max
    // The generator finds the item's queue only through its submission; the lowest level is safe.
    case .waitItem, .busyWait: return 0
    default: return .max
    }
  }

  private func lowestWait(_ ops: [Op]) -> Int { ops.map { lowestWait($0) }.min() ?? .max }
}
