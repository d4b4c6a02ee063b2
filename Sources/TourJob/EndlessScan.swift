// Purpose: work that keeps every processor busy for as long as it is wanted: files checksummed over
// and over, by twice as many chains of items as there are processors. Each item submits the next of
// its chain.

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
  // relaxed: nothing is read on its account.
  private let isOver = Atomic(false)
  private var result = ScanResult()

  private static let itemMilliseconds = 2

  /// Begins it, and returns when each chain has begun: no processor is left without.
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
    // At the scan's own class: what collects is not to be more urgent than what is collected.
    results.async(group: underWay) { [self] in result = result + part }
    if isOver.load(ordering: .relaxed) { return }
    let next = first + part.pieces
    queue.async(group: underWay) { [self] in go(from: next) }
  }

  /// Ends it; what it has read in all.
  func end() -> ScanResult {
    isOver.store(true, ordering: .relaxed)
    underWay.wait()
    return results.sync { result }
  }
}
