// Chapter 6: quality of service. A background scan keeps all processors busy, and urgent requests
// come in between. Their class decides whether they wait behind the scan or go first.

import Glibc
import GrandCentral

/// Keeps a number of items queued at all times, until it is stopped.
final class BackgroundScan: Sendable {
  let queuedItems: Int

  private struct State {
    var started = 0
    var isOver = false
    var wrongSums = 0
  }
  private let state = Guarded(State(), label: "urgent.scan")
  /// What each item checksums, and what the cksum command prints for it.
  private let block = [UInt8](repeating: 7, count: 100_000)
  private static let checksum: UInt32 = 70_676_279
  private let underWay = DispatchGroup()

  /// How many items have started until now.
  var started: Int { state.sync { $0.started } }

  init(queuedItems: Int) {
    self.queuedItems = queuedItems
    for _ in 0..<queuedItems { submit() }
  }

  /// Returns the number of wrong sums, after the last item.
  func stop() -> Int {
    state.sync { $0.isOver = true }
    underWay.wait()
    return state.sync { $0.wrongSums }
  }

  private func submit() {
    DispatchQueue.global(qos: .background).async(group: underWay) { [self] in
      let isOver = state.sync { state in
        state.started += 1
        return state.isOver
      }
      if isOver { return }
      let checksum = block.withUnsafeBytes { Checksum(of: $0) }
      if checksum.value != Self.checksum { state.async { $0.wrongSums += 1 } }
      submit()
    }
  }
}

/// What has happened to the requests of one class.
struct Waits: Sendable {
  var times: [Duration] = []
  /// How many items of the scan started while each request waited.
  var overtakenBy: [Int] = []
}

/// Sends requests beside the scan, each one when the last one is answered.
func sendRequests(_ count: Int, qos: DispatchQoS.QoSClass, beside scan: BackgroundScan) -> Waits {
  let waits = Guarded(Waits(), label: "urgent.waits")
  let isAnswered = DispatchSemaphore(value: 0)
  let clock = ContinuousClock()
  for _ in 0..<count {
    let (sent, startedBefore) = (clock.now, scan.started)
    DispatchQueue.global(qos: qos).async {
      let (time, others) = (clock.now - sent, scan.started - startedBefore)
      waits.async {
        $0.times.append(time)
        $0.overtakenBy.append(others)
      }
      isAnswered.signal()
    }
    isAnswered.wait()
  }
  return waits.sync { $0 }
}

extension Chapter {
  static let urgent = Chapter(
    name: "urgent", summary: "a user's requests beside a scan in the background"
  ) { tour in
    let count = tour.isShort ? 10 : 50
    let scan = BackgroundScan(queuedItems: tour.isShort ? 5 : 50)
    let patient = sendRequests(count, qos: .background, beside: scan)
    let urgent = sendRequests(count, qos: .userInteractive, beside: scan)
    let wrongSums = scan.stop()

    tour.say("\(scan.queuedItems) items of the scan are queued at all times")
    tour.row("class", "median wait", "longest wait", "overtaken by")
    for (name, waits) in [("background", patient), ("user-interactive", urgent)] {
      let (times, others) = (waits.times.sorted(), waits.overtakenBy.sorted())
      tour.row(name, times[count / 2].words, times.last!.words, "\(others[count / 2]) items")
    }
    tour.check(wrongSums == 0, "every sum of the scan is right", "\(wrongSums) are not")
    tour.check(
      urgent.overtakenBy.contains { $0 < scan.queuedItems },
      "urgent requests go before items that were queued earlier", "none did")
  }
}
