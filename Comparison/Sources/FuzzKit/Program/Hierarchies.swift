// Purpose: finds the queues of a program that can keep each other's items from starting.
//
// A hierarchy is a set of private queues, possibly with the main queue, connected by targets: the
// initial ones, those of activations and those of retargetings. Queues of different hierarchies
// share at most global queues, which keep no item from starting.

struct Hierarchies {
  /// By queue: the first queue of its hierarchy; `nil` for a global queue.
  private(set) var number: [Int?]
  /// By queue: a bit for each serial or main queue through which its items may have to pass.
  private(set) var serials: [UInt64]
  /// By queue: whether its items may run on shared threads, of which there are as many as CPUs.
  private(set) var isShared: [Bool]
  /// The hierarchies in which an item may hold a concurrent queue alone: by a barrier, or by a
  /// retargeting, which acts as one.
  private(set) var withBarriers: Set<Int> = []
  private let levels: [Int]

  init(_ program: Program) {
    let queues = program.queues
    levels = queues.map(\.level)
    number = queues.indices.map { queues[$0].kind == .global ? nil : $0 }
    serials = queues.indices.map { queues[$0].isSerial && $0 < 64 ? 1 << UInt64($0) : 0 }
    isShared = queues.map { $0.kind == .concurrent || $0.kind == .global }
    var targets = queues.map { $0.target.map { [$0] } ?? [] }
    let ops = program.allOps
    for op in ops {
      switch op {
      case .activate(_, let queue, let target?), .retarget(_, let queue, let target?):
        if targets.indices.contains(queue) { targets[queue].append(target) }
      default: break
      }
    }
    // A queue's target has a higher number. Legality.swift refuses other programs.
    for queue in queues.indices.reversed() {
      for target in targets[queue] where target > queue && target < queues.count {
        serials[queue] |= serials[target]
        isShared[queue] = isShared[queue] || isShared[target]
        connect(queue, target)
      }
    }
    for op in ops {
      if case .retarget(_, let queue, _) = op { noteBarrier(on: queue) }
      for submission in op.submissions where submission.isBarrier {
        noteBarrier(on: submission.queue)
      }
    }
  }

  private mutating func connect(_ one: Int, _ other: Int) {
    guard let first = number[one], let second = number[other], first != second else { return }
    for queue in number.indices where number[queue] == second { number[queue] = first }
  }

  private mutating func noteBarrier(on queue: Int) {
    if number.indices.contains(queue), let hierarchy = number[queue] {
      withBarriers.insert(hierarchy)
    }
  }

  /// Returns why items on these queues may never run at the same time, even if all items ahead of
  /// them end; `nil` if they will.
  func obstacle(toMeetingOn hosts: [Int]) -> String? {
    for (position, host) in hosts.enumerated() {
      for other in hosts[..<position] {
        if levels[host] != levels[other] {
          return "queues \(other) and \(host) are of different levels"
        }
        guard let hierarchy = number[host], hierarchy == number[other] else { continue }
        if serials[host] & serials[other] != 0 {
          return "items of queues \(other) and \(host) may have to run one at a time"
        }
        if withBarriers.contains(hierarchy) {
          return "a barrier may come between items of queues \(other) and \(host)"
        }
      }
    }
    return nil
  }
}

extension Program {
  /// Whether the queue's items run on shared threads, of which there are as many as CPUs, while no
  /// target changes.
  func isShared(_ queue: Int) -> Bool {
    var next: Int? = queue
    while let number = next {
      let spec = queues[number]
      if spec.kind == .concurrent || spec.kind == .global { return true }
      next = spec.target
    }
    return false
  }
}
