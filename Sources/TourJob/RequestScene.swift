// Purpose: a user's requests, alone and beside a background scan. Each request is due at a fixed
// time, even if earlier ones are unanswered. Its latency counts from the due time to its answer.

import TourKit

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

// SAFETY: `answers` is only touched by items of `queue`.
final class RequestScene: @unchecked Sendable {
  private struct Answers {
    var nanoseconds: [UInt64] = []
    var numbers: [Int] = []
    var wrong = 0
  }

  private let pieces: FilePieces
  private let queue = DispatchQueue(label: "tour.requests", qos: .userInitiated)
  private let underWay = DispatchGroup()
  private var answers = Answers()

  init(_ pieces: FilePieces) { self.pieces = pieces }

  func play(into report: inout SceneReport) {
    // The first requests make the engine create its threads; they are not measured.
    _ = send(10, .short)
    for kind in RequestKind.allCases {
      add(send(kind.count, kind), as: "\(kind)-alone", to: &report)
    }
    let scan = EndlessScan(pieces, at: .background)
    for kind in RequestKind.allCases {
      add(send(kind.count, kind), as: "\(kind)-beside", to: &report)
    }
    let scanned = scan.end()
    report.counts["scanned-pieces"] = scanned.pieces
    report.counts["scanned-bytes"] = scanned.bytes
    report.counts["scanned-changed"] = scanned.changed
  }

  private func add(_ answers: Answers, as name: String, to report: inout SceneReport) {
    report.times[name] = answers.nanoseconds
    report.counts["\(name)-wrong"] = answers.wrong
    report.counts["\(name)-in-order"] =
      answers.numbers.elementsEqual(0..<answers.numbers.count) ? 1 : 0
  }

  /// Sends `count` requests from this thread and waits for the last answer.
  private func send(_ count: Int, _ kind: RequestKind) -> Answers {
    let start = Machine.nanoseconds
    for number in 0..<count {
      let due = start + UInt64(number * kind.intervalMilliseconds) * 1_000_000
      Machine.sleep(until: due)
      let sentAt = Machine.nanoseconds
      queue.async(group: underWay) { [self] in answer(number, kind, sentAt) }
    }
    underWay.wait()
    return queue.sync {
      defer { answers = Answers() }
      return answers
    }
  }

  private func answer(_ number: Int, _ kind: RequestKind, _ sentAt: UInt64) {
    let part = pieces.scan(from: number, processorMilliseconds: kind.processorMilliseconds)
    answers.wrong += part.changed
    answers.numbers.append(number)
    answers.nanoseconds.append(Machine.nanoseconds - sentAt)
  }
}
