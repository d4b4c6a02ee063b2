// How a loop hands out its iterations: contract row Q22.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The iterations of concurrentPerform") struct PerformStateTests {
  private func claims(_ iterations: Int, from first: Int = 0, threads: Int) -> [Range<Int>] {
    let body = PerformBody { _ in }
    return withUnsafePointer(to: body) { body in
      let state = PerformState(
        iterations: iterations, from: first, threads: threads, waiter: currentThread(),
        body: body)
      var ranges: [Range<Int>] = []
      while true {
        let range = state.claim()
        if range.isEmpty { return ranges }
        ranges.append(range)
      }
    }
  }

  @Test(arguments: [0, 1, 2, 7, 64, 1000, 1_000_000], [1, 2, 3, 64])
  func `are claimed once each, in chunks that do not grow`(iterations: Int, threads: Int) {
    let ranges = claims(iterations, threads: threads)
    var next = 0
    for range in ranges {
      #expect(range.lowerBound == next)
      next = range.upperBound
    }
    #expect(next == iterations)
    let sizes = ranges.map(\.count)
    #expect(sizes == sizes.sorted(by: >))
    #expect((sizes.first ?? 0) <= max(1, iterations / (4 * threads)))
  }

  @Test func `are claimed one by one where there are few`() {
    #expect(claims(15, threads: 4).count == 15)
  }

  @Test func `are claimed from the first that has not run`() {
    #expect(claims(5, from: 3, threads: 2) == [3..<4, 4..<5])
    #expect(claims(5, from: 5, threads: 2) == [])
  }

  @Test func `are claimed once each by many threads`() {
    let body = PerformBody { _ in }
    let count = stressed(200_000)
    let tally = Tally(count)
    withUnsafePointer(to: body) { body in
      let state = PerformState(
        iterations: count, threads: 4, waiter: currentThread(), body: body)
      let ended = onThreads(4) { _ in
        while true {
          let range = state.claim()
          if range.isEmpty { return }
          for index in range { tally.add(index) }
        }
      }
      #expect(ended)
    }
    #expect(tally.exceptions.isEmpty)
  }
}
