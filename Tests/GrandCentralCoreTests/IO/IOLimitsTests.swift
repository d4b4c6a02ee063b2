// Water marks and intervals of a channel: contract row I3.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The limits of a channel") struct IOLimitsTests {
  @Test func `deliver a piece by default, and as much as is requested`() {
    let limits = IOLimits()
    #expect(limits.low == IOLimits.piece && limits.high == .max)
    #expect(limits.intervalNanoseconds == 0 && !limits.isStrict)
    #expect(IOLimits.unlimited.low == .max && IOLimits.unlimited.high == .max)
  }

  @Test func `are decided by the mark that was set last`() {
    var limits = IOLimits()
    limits.setHigh(10)
    #expect(limits.low == 10 && limits.high == 10)
    limits.setLow(20)
    #expect(limits.low == 20 && limits.high == 20)
    limits.setHigh(30)
    #expect(limits.low == 20 && limits.high == 30)
  }

  @Test func `are at least 1, and read a negative number as SIZE_MAX`() {
    var limits = IOLimits()
    limits.setHigh(0)
    #expect(limits.low == 1 && limits.high == 1)
    limits.setLow(-1)
    #expect(limits.low == .max && limits.high == .max)
    #expect(IOLimits.length(-1) == .max && IOLimits.length(0) == 0)
  }

  @Test(arguments: [DispatchTimeInterval.never, .seconds(0), .seconds(-3), .seconds(.max)])
  func `treat an interval without end as none`(interval: DispatchTimeInterval) {
    var limits = IOLimits()
    limits.setInterval(interval, isStrict: true)
    #expect(limits.intervalNanoseconds == 0)
    limits.setInterval(.microseconds(5), isStrict: true)
    #expect(limits.intervalNanoseconds == 5000 && limits.isStrict)
  }
}

@Suite("A list with a front") struct FrontListTests {
  @Test func `agrees with an array`() {
    var random = SeededGenerator(for: "FrontList")
    var (list, model) = (FrontList<Int>(), [Int]())
    for step in 0..<20_000 {
      switch Int.random(in: 0...100, using: &random) {
      case 0:
        let divisor = Int.random(in: 2...9, using: &random)
        #expect(
          list.take { $0 % divisor == 0 } == model.filter { $0 % divisor == 0 })
        model.removeAll { $0 % divisor == 0 }
      case 1...3:
        list.prepend(step)
        model.insert(step, at: 0)
      case 4...52:
        list.append(step)
        model.append(step)
      default:
        #expect(list.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
      }
      #expect(list.first == model.first && list.isEmpty == model.isEmpty)
    }
  }
}
