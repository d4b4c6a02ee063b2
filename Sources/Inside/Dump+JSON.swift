// A dump as one JSON object, for scripts.
import GrandCentralBoard

extension Dump {
  package func json() -> String {
    let snapshot = analysis.snapshot
    let findings = findings.map { finding in
      JSON.object([
        ("kind", .text(finding.kind.rawValue)), ("headline", .text(finding.headline)),
        ("details", .list(finding.details.map { .text($0) })),
      ])
    }
    let possibilities = possibilities.map { possibility in
      JSON.object([
        ("headline", .text(possibility.headline)),
        ("details", .list(possibility.details.map { .text($0) })),
      ])
    }
    let threads = snapshot.threads.map { thread in
      JSON.object([
        ("id", .number(UInt64(thread.id))), ("name", .text(thread.name)),
        ("worker", .flag(thread.isWorker)), ("activity", .text("\(thread.activity)")),
        ("waitsFor", .text("\(thread.wait)")), ("sinceNanoseconds", .number(thread.since)),
        ("awaitedQueue", .number(UInt64(thread.awaitedQueue))),
        ("queue", .number(UInt64(thread.queue))),
        ("queueSinceNanoseconds", .number(thread.queueSince)),
        ("itemsOnQueue", thread.itemsOnQueue == 0 ? .null : .number(UInt64(thread.itemsOnQueue))),
        ("heldQueues", .list(thread.held.map { .number(UInt64($0)) })),
      ])
    }
    let queues = snapshot.queues.values.map { queue in
      JSON.object([
        ("id", .number(UInt64(queue.place))), ("label", .text(queue.label)),
        ("kind", .text(queue.kind.rawValue)), ("target", .number(UInt64(queue.target))),
        ("suspendedSinceNanoseconds", .number(queue.suspendedSince)),
        ("queuedWhileSuspended", .number(queue.queuedSuspended)),
        ("undrainedSinceNanoseconds", .number(queue.undrainedSince)),
      ])
    }
    return JSON.object([
      ("process", .number(UInt64(snapshot.process))), ("name", .text(snapshot.name)),
      ("live", .flag(liveProcess != nil)), ("nowNanoseconds", .number(analysis.now)),
      ("stuckAfterNanoseconds", .number(analysis.stuckAfter)),
      ("pendingNotifications", .number(UInt64(snapshot.pendingNotifications))),
      ("findings", .list(findings)), ("possibilities", .list(possibilities)),
      ("threads", .list(threads)), ("queues", .list(queues)),
    ]).text + "\n"
  }
}

/// A value in the form of RFC 8259.
indirect enum JSON {
  case text(String)
  case number(UInt64)
  case flag(Bool)
  case null
  case list([JSON])
  case object([(String, JSON)])

  var text: String {
    switch self {
    case .text(let text): Self.quoted(text)
    case .number(let number): String(number)
    case .flag(let flag): flag ? "true" : "false"
    case .null: "null"
    case .list(let items): "[" + items.map(\.text).joined(separator: ",") + "]"
    case .object(let fields):
      "{" + fields.map { Self.quoted($0.0) + ":" + $0.1.text }.joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
