// Purpose: keeps every processor busy until stopped: twice as many chains of items as processors
// checksum files repeatedly. Each item submits the next item of its chain.

import Synchronization
import TourKit

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

// SAFETY: `result` is only touched by items of `results`.
final class EndlessScan: @unchecked Sendable {
  private let pieces: FilePieces
  private let queue: DispatchQueue
  private let results = DispatchQueue(label: "tour.scan.results")
  private let underWay = DispatchGroup()
  // relaxed: no other memory is read on account of the flag.
  private let isOver = Atomic(false)
  private var result = ScanResult()

  private static let itemMilliseconds = 2

  /// Starts the scan. Returns when each chain has started, so every processor is busy.
  init(_ pieces: FilePieces, at qosClass: DispatchQoS.QoSClass) {
    self.pieces = pieces
    queue = DispatchQueue.global(qos: qosClass)
    let chains = 2 * Machine.processors
    let begun = DispatchGroup()
    for chain in 0..<chains {
      begun.enter()
      queue.async(group: underWay) { [self] in
        begun.leave()
        go(from: chain * pieces.pieces.count / chains)
      }
    }
    begun.wait()
  }

  private func go(from first: Int) {
    let part = pieces.scan(from: first, processorMilliseconds: Self.itemMilliseconds)
    // At the scan's own class: the collecting item must not be more urgent than the scan.
    results.async(group: underWay) { [self] in result = result + part }
    if isOver.load(ordering: .relaxed) { return }
    let next = first + part.pieces
    queue.async(group: underWay) { [self] in go(from: next) }
  }

  /// Stops the scan and returns the sum of its results.
  func end() -> ScanResult {
    isOver.store(true, ordering: .relaxed)
    underWay.wait()
    return results.sync { result }
  }
}
