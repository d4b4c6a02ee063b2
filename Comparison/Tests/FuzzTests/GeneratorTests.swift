import FuzzKit
import Testing

@Suite("The generator") struct GeneratorTests {
  static let capabilities: [Capabilities] = [
    [], [.after, .mainQueue], [.blocksAnywhere], [.retargetsActive], .all,
  ]

  @Test(arguments: capabilities, [Generator.defaultBusyPercent, 100])
  func `makes legal programs`(_ capabilities: Capabilities, _ busyPercent: Int) throws {
    for index in 0..<3000 {
      let program = Generator.program(
        seed: 1, index: index, capabilities: capabilities, busyPercent: busyPercent)
      do { try program.check(against: capabilities) } catch {
        Issue.record("program \(index): \(error)")
        return
      }
    }
  }

  @Test func `makes the same program from the same seed`() {
    for index in 0..<50 {
      #expect(Generator.program(seed: 9, index: index) == Generator.program(seed: 9, index: index))
    }
    let seeds = (0..<50).map { Generator.program(seed: $0, index: 0) }
    #expect(Set(seeds).count > 40)
  }

  @Test func `uses every kind of step and submission`() {
    var counts: [String: Int] = [:]
    for index in 0..<2000 {
      for op in Generator.program(seed: 3, index: index).allOps {
        counts[String("\(op)".prefix { $0 != "(" }), default: 0] += 1
        for submission in op.submissions {
          counts[String("\(submission.way)".prefix { $0 != "(" }), default: 0] += 1
          if submission.isBarrier { counts["barrier", default: 0] += 1 }
          if submission.hasHandle { counts["handle", default: 0] += 1 }
          if submission.membership != nil { counts["member", default: 0] += 1 }
        }
      }
    }
    let wanted = [
      "submit", "iterate", "notify", "waitGroup", "permit", "handshake", "suspended",
      "suspendUntil", "activate", "retarget", "cancel", "waitItem", "notifyItem", "readSpecific",
      "spin", "async", "sync", "asyncAndWait", "after", "perform", "barrier", "handle", "member",
      "task", "actor",
    ]
    for kind in wanted {
      #expect(counts[kind, default: 0] > 20, "\(kind) \(counts[kind, default: 0])")
    }
  }

  @Test func `makes items wait busily in every manner, on every kind of queue`() {
    var counts: [String: Int] = [:]
    func count(_ kind: String) { counts[kind, default: 0] += 1 }
    for index in 0..<2000 {
      let program = Generator.program(seed: 6, index: index, busyPercent: 100)
      for op in program.allOps {
        switch op {
        case .busyWait(_, _, let milestone, let polling):
          count("wait by \(polling.manner)")
          count("until \(milestone)")
        case .meeting(_, let polling, let members):
          count("meeting by \(polling.manner)")
          let kinds = Set(members.map { program.queues[$0.queue].kind })
          for kind in kinds { count("meeting on \(kind)") }
          if kinds.count > 1 { count("mixed meeting") }
          if members.count > 8 { count("large meeting") }
          if members.contains(where: { program.queues[$0.queue].target != nil }) {
            count("meeting in a hierarchy")
          }
        default: break
        }
      }
      if program.slowness > 2 { count("slow") }
    }
    let wanted =
      Polling.Manner.allCases.flatMap { ["wait by \($0)", "meeting by \($0)"] }
      + QueueSpec.Kind.allCases.map { "meeting on \($0)" }
      + ["until begun", "until ended", "mixed meeting", "large meeting", "meeting in a hierarchy"]
    for kind in wanted { #expect(counts[kind, default: 0] > 3, "\(kind) \(counts)") }
    // Each takes a second or more.
    #expect((1...20).contains(counts["slow", default: 0]), "\(counts)")
  }

  @Test func `leaves programs without busy waits as they are`() {
    var busy = 0
    var same = 0
    for index in 0..<1000 {
      let program = Generator.program(seed: 2, index: index)
      if program.hasBusyWaits { busy += 1 }
      if Generator.program(seed: 2, index: index, busyPercent: 0) == program { same += 1 }
    }
    // A program selected for busy waits has none if no position allows one.
    #expect(busy > 10 && busy + same > 980 && same > 940, "\(busy) busy, \(same) the same")
  }

  @Test func `writes programs that can be read again`() {
    for index in 0..<500 {
      let program = Generator.program(seed: 4, index: index, busyPercent: 50)
      #expect(Program(text: program.text) == program)
    }
    #expect(Program(text: "1 2") == nil)
    #expect(Program(text: Generator.program(seed: 4, index: 0).text + " 1") == nil)
  }
}

/// What the checker must refuse, because a correct engine could hang or stop the program for it.
@Suite("A legal program") struct LegalityTests {
  private let low = QueueSpec(.serial, level: 0)
  private let high = QueueSpec(.serial, level: 1)

  @Test func `waits only upwards`() {
    #expect(program(low, high, do: [async(0, on: 0, sync(1, on: 1))]).isLegal)
    #expect(!program(low, high, do: [async(0, on: 1, sync(1, on: 0))]).isLegal)
    #expect(!program(low, do: [sync(0, sync(1))]).isLegal)
  }

  @Test func `keeps targets in their level, later ones`() {
    #expect(program(QueueSpec(.serial, target: 1), low, do: []).isLegal)
    #expect(!program(QueueSpec(.serial, target: 1), high, do: []).isLegal)
    #expect(!program(low, QueueSpec(.serial, target: 0), do: []).isLegal)
  }

  @Test func `activates every inactive queue without its help`() {
    let inactive = QueueSpec(.serial, isInactive: true)
    let activate = Op.activate(id: 9, queue: 0, target: nil)
    #expect(program(inactive, do: [activate, sync(0)]).isLegal)
    #expect(!program(inactive, do: [async(0)]).isLegal)
    #expect(!program(inactive, do: [sync(0), activate]).isLegal)
    #expect(!program(inactive, do: [async(0, activate)]).isLegal)
    #expect(program(inactive, high, do: [async(0, on: 1, activate)]).isLegal)
  }

  @Test func `resumes from elsewhere only above`() {
    func until(_ queue: Int) -> Op {
      .suspendUntil(id: 0, queue: 0, Submission(Item(1), queue: queue))
    }
    #expect(program(low, high, do: [until(1)]).isLegal)
    #expect(!program(low, high, do: [until(0)]).isLegal)
    #expect(!program(low, high, do: [.suspended(id: 0, queue: 0, body: [sync(1, on: 0)])]).isLegal)
  }

  @Test func `waits for a handle once, after its submission`() {
    let wait = Op.waitItem(id: 5, item: 0)
    #expect(program(low, do: [handle(0), wait]).isLegal)
    #expect(!program(low, do: [wait, handle(0)]).isLegal)
    #expect(!program(low, do: [handle(0), wait, .waitItem(id: 6, item: 0)]).isLegal)
    #expect(!program(low, do: [async(0), wait]).isLegal)
  }

  @Test func `cancels no item that must run`() {
    let signals = Op.handshake(id: 0, semaphore: 0, Submission(Item(1), queue: 0, hasHandle: true))
    #expect(!program(low, semaphores: [0], do: [signals]).isLegal)
    #expect(!program(low, do: [async(0), .cancel(id: 1, item: 0)]).isLegal)
  }
}
