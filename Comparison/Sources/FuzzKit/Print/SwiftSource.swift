// Purpose: prints a program as Swift source that needs only the engine's module. The source repeats
// the program and prints what each item does.

public struct SwiftSource {
  let program: Program
  private let module: String
  private var lines: [String] = []
  private var depth = 0

  /// - Parameter module: the module that the source imports: `GrandCentral` or `Dispatch`.
  public static func text(of program: Program, module: String) -> String {
    var source = SwiftSource(program: program, module: module)
    source.writePrelude()
    source.writeProgram()
    source.writeRounds()
    return source.lines.joined(separator: "\n") + "\n"
  }

  private init(program: Program, module: String) {
    self.program = program
    self.module = module
  }

  mutating func put(_ line: String) {
    lines.append(line.isEmpty ? "" : String(repeating: "  ", count: depth) + line)
  }

  mutating func block(
    _ opening: String, _ closing: String? = "}", _ body: (inout SwiftSource) -> Void
  ) {
    put(opening)
    depth += 1
    body(&self)
    depth -= 1
    if let closing { put(closing) }
  }

  // MARK: The frame

  private mutating func writePrelude() {
    put("import \(module)")
    if program.hasBusyWaits { for name in ["Glibc", "Synchronization"] { put("import \(name)") } }
    put("")
    put("/// Entered by every driver and item of a round.")
    put("nonisolated(unsafe) var round = DispatchGroup()")
    put("")
    block("func item(_ number: Int, leaves: Bool = true, _ body: () -> Void = {}) {") {
      $0.put("print(\"item \\(number) started\")")
      $0.put("body()")
      $0.put("print(\"item \\(number) ended\")")
      $0.put("if leaves { round.leave() }")
    }
    put("")
    block("func spin(_ amount: Int) {") {
      $0.put("for _ in 0..<amount { _ = DispatchTime.now() }")
    }
    put("")
    if program.hasBusyWaits { writeFlagClass() }
    if program.hasActors { writeActorClass() }
  }

  private mutating func writeRounds() {
    put("")
    block("func rounds() {") {
      $0.block("for number in 1...1000 {") {
        $0.put("print(\"round \\(number)\")")
        $0.put("program()")
        $0.put("round.wait()")
      }
    }
    let hasMain = program.queues.contains { $0.kind == .main }
    put("")
    if hasMain {
      // dispatchMain() never returns, so the rounds run on a queue; the program does not exit.
      put("DispatchQueue(label: \"rounds\").async { rounds() }")
      put("dispatchMain()")
    } else {
      put("rounds()")
    }
  }

  private mutating func writeProgram() {
    block("func program() {") { source in
      source.writeObjects()
      for (number, driver) in source.program.drivers.enumerated() {
        source.put("round.enter()")
        source.block("DispatchQueue(label: \"driver \(number)\").async {") {
          $0.write(driver)
          $0.put("round.leave()")
        }
      }
    }
  }

  private mutating func writeObjects() {
    if program.queues.contains(where: { $0.specifics != 0 }) || usesSpecifics {
      put("let keys = [DispatchSpecificKey<Int>(), DispatchSpecificKey<Int>()]")
    }
    for number in program.queues.indices.reversed() { writeQueue(number) }
    for number in program.groups.indices { put("let group\(number) = DispatchGroup()") }
    for (number, semaphore) in program.semaphores.enumerated() {
      put("let semaphore\(number) = DispatchSemaphore(value: \(semaphore.value))")
    }
    if program.hasActors { put("let hops = DispatchQueue(label: \"hops\")") }
    writeFlags()
    // All handles are declared before the first is made, because a closure may name any of them.
    let handles = program.allOps.flatMap(\.submissions).filter(\.hasHandle)
    if handles.isEmpty { return }
    for submission in handles {
      put("nonisolated(unsafe) var handle\(submission.item.id): DispatchWorkItem! = nil")
    }
    for submission in handles {
      let flags = submission.isBarrier ? "flags: .barrier" : ""
      let call = flags.isEmpty ? "DispatchWorkItem" : "DispatchWorkItem(\(flags))"
      block("handle\(submission.item.id) = \(call) {") { $0.writeItem(submission.item) }
    }
  }

  private var usesSpecifics: Bool {
    program.allOps.contains { if case .readSpecific = $0 { true } else { false } }
  }

  private mutating func writeQueue(_ number: Int) {
    let queue = program.queues[number]
    var arguments = ["label: \"queue \(number)\""]
    if queue.qos != 0 { arguments.append("qos: .\(QoSName.all[queue.qos])") }
    var attributes: [String] = []
    if queue.kind == .concurrent { attributes.append(".concurrent") }
    if queue.isInactive { attributes.append(".initiallyInactive") }
    if attributes.count == 1 { arguments.append("attributes: \(attributes[0])") }
    if attributes.count == 2 {
      arguments.append("attributes: [\(attributes.joined(separator: ", "))]")
    }
    if let target = queue.target { arguments.append("target: queue\(target)") }
    switch queue.kind {
    case .serial, .concurrent:
      put("let queue\(number) = DispatchQueue(\(arguments.joined(separator: ", ")))")
    case .global:
      let qos = queue.qos == 0 ? "" : "qos: .\(QoSName.all[queue.qos])"
      put("let queue\(number) = DispatchQueue.global(\(qos))")
    case .main: put("let queue\(number) = DispatchQueue.main")
    }
    for key in 0..<specificKeyCount where queue.specifics & 1 << key != 0 {
      put("queue\(number).setSpecific(key: keys[\(key)], value: \(number))")
    }
  }

  // MARK: Steps

  private mutating func write(_ ops: [Op]) { for op in ops { write(op) } }

  /// Writes the body of a closure.
  mutating func writeItem(_ item: Item) {
    // A cancelled item may not run, so its notification leaves the round instead.
    let call = "item(\(item.id)" + (isCancelled(item.id) ? ", leaves: false)" : ")")
    if item.body.isEmpty && !isWatched(item.id) {
      put(call)
    } else {
      block("\(call) {") {
        $0.writeBeginning(of: item.id)
        $0.write(item.body)
        $0.writeEnd(of: item.id)
      }
    }
  }

  private mutating func write(_ op: Op) {
    switch op {
    case .submit(let submission): write(submission)
    case .iterate(_, let items): writeIterations(items)
    case .notify(let group, let queue, let item):
      put("round.enter()")
      block("group\(group).notify(queue: queue\(queue)) {") { $0.writeItem(item) }
    case .notifyItem(let other, let queue, let item):
      put("round.enter()")
      block("handle\(other).notify(queue: queue\(queue)) {") { $0.writeItem(item) }
    case .waitGroup(_, let group, let patience):
      put(patience.map { "_ = group\(group).wait(\(timeout($0)))" } ?? "group\(group).wait()")
    case .permit(_, let semaphore, let patience, let body):
      writePermit(semaphore, patience, body)
    case .handshake(_, let semaphore, let submission):
      write(submission, atEnd: "semaphore\(semaphore).signal()")
      put("semaphore\(semaphore).wait()")
    case .suspended(_, let queue, let body):
      put("queue\(queue).suspend()")
      write(body)
      put("queue\(queue).resume()")
    case .suspendUntil(_, let queue, let submission):
      put("queue\(queue).suspend()")
      write(submission, atEnd: "queue\(queue).resume()")
    case .activate(_, let queue, let target):
      if target != program.queues[queue].target { writeTarget(queue, target) }
      put("queue\(queue).activate()")
    case .retarget(_, let queue, let target): writeTarget(queue, target)
    case .cancel(_, let item): put("handle\(item).cancel()")
    case .waitItem(_, let item): put("handle\(item).wait()")
    case .readSpecific(let id, let key):
      put(
        "print(\"step \(id) found\", DispatchQueue.getSpecific(key: keys[\(key)]) as Any)")
    case .spin(_, let amount): put("spin(\(amount))")
    case .busyWait(_, let item, let milestone, let polling):
      put("\(flag(item, milestone)).wait \(pause(polling))")
    case .meeting(_, _, let members): for member in members { write(member) }
    }
  }

  private func timeout(_ microseconds: Int) -> String {
    "timeout: .now() + .microseconds(\(microseconds))"
  }

  private mutating func writeTarget(_ queue: Int, _ target: Int?) {
    // The parameter in the toolchain's Dispatch is not optional.
    let none = module == "Dispatch" ? ".global()" : "nil"
    put("queue\(queue).setTarget(queue: \(target.map { "queue\($0)" } ?? none))")
  }

  private mutating func writeIterations(_ items: [Item]) {
    put("for _ in 0..<\(items.count) { round.enter() }")
    block("DispatchQueue.concurrentPerform(iterations: \(items.count)) { index in") { source in
      source.put("switch index {")
      for (index, item) in items.enumerated() {
        source.block(index == items.count - 1 ? "default:" : "case \(index):", nil) {
          $0.writeItem(item)
        }
      }
      source.put("}")
    }
  }

  private mutating func writePermit(_ semaphore: Int, _ patience: Int?, _ body: [Op]) {
    guard let patience else {
      put("semaphore\(semaphore).wait()")
      write(body)
      put("semaphore\(semaphore).signal()")
      return
    }
    block("if semaphore\(semaphore).wait(\(timeout(patience))) == .success {") {
      $0.write(body)
      $0.put("semaphore\(semaphore).signal()")
    }
  }

  private mutating func write(_ submission: Submission, atEnd epilogue: String? = nil) {
    put("round.enter()")
    let queue = "queue\(submission.queue)"
    let id = submission.item.id
    if submission.hasHandle { return writeHandle(submission, queue, id) }
    if let membership = submission.membership, membership.isByHand {
      put("group\(membership.group).enter()")
    }
    block(opening(submission)) { source in
      source.writeItem(of: submission)
      if let membership = submission.membership, membership.isByHand {
        source.put("group\(membership.group).leave()")
      }
      if let epilogue { source.put(epilogue) }
    }
  }

  func call(_ submission: Submission) -> String {
    var arguments: [String] = []
    if case .after(let microseconds) = submission.way {
      return ".asyncAfter(deadline: .now() + .microseconds(\(microseconds)))"
    }
    if let membership = submission.membership, !membership.isByHand {
      arguments.append("group: group\(membership.group)")
    }
    if submission.qos != 0 && submission.way == .async {
      arguments.append("qos: .\(QoSName.all[submission.qos])")
    }
    if submission.isBarrier { arguments.append("flags: .barrier") }
    let list = arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))"
    return ".\(submission.way)\(list)"
  }

  private mutating func writeHandle(_ submission: Submission, _ queue: String, _ id: Int) {
    switch submission.way {
    case .perform: put("handle\(id).perform()")
    case .after(let microseconds):
      put(
        "\(queue).asyncAfter(deadline: .now() + .microseconds(\(microseconds)), execute: handle\(id))"
      )
    // A task has no handle: Legality.
    case .async, .sync, .asyncAndWait, .task, .actor:
      let group = submission.membership.map { "group: group\($0.group), " } ?? ""
      put("\(queue).\(submission.way)(\(group)execute: handle\(id))")
    }
    if isCancelled(id) { put("handle\(id).notify(queue: .global()) { round.leave() }") }
  }

  private func isCancelled(_ item: Int) -> Bool {
    program.allOps.contains { if case .cancel(_, item) = $0 { true } else { false } }
  }
}
