// Times and intervals at the limits of their ranges.
import Testing

@testable import GrandCentralCore

@Suite("The distant future") struct FarTimeTests {
  @Test func `is infinitely far from any time, and equal to itself`() {
    let now = DispatchTime(uptimeNanoseconds: 1000)
    #expect(now.distance(to: .distantFuture) == .never)
    #expect(DispatchTime.distantFuture.distance(to: now) == .nanoseconds(.min))
    #expect(DispatchTime.distantFuture.distance(to: .distantFuture) == .nanoseconds(0))
    #expect(DispatchWallTime.now().distance(to: .distantFuture) == .never)
    #expect(DispatchWallTime.distantFuture.distance(to: .now()) == .nanoseconds(.min))
    #expect(DispatchWallTime.distantFuture.distance(to: .distantFuture) == .nanoseconds(0))
  }

  @Test func `is the result of a sum that exceeds the clock`() {
    let late = DispatchTime(uptimeNanoseconds: 1 << 61)
    #expect(late.advanced(by: .nanoseconds(.max - 1)) == .distantFuture)
    #expect(late.advanced(by: .nanoseconds(1 << 61)) == .distantFuture)
    #expect(late.advanced(by: .nanoseconds((1 << 61) - 1)) != .distantFuture)
    let date = DispatchWallTime(nanoseconds: 1 << 61)
    #expect(date.advanced(by: .nanoseconds(.max - 1)) == .distantFuture)
    #expect(date.advanced(by: .nanoseconds(1 << 61)) != .distantFuture)
  }

  @Test func `stays distant in every sum`() {
    #expect(DispatchTime.distantFuture.advanced(by: .seconds(-1)) == .distantFuture)
    #expect(DispatchWallTime.distantFuture.advanced(by: .seconds(-1)) == .distantFuture)
  }
}

@Suite("A number that is no class") struct UnknownBandTests {
  @Test(arguments: [6, 7, 0x7f, 0xff] as [UInt32])
  func `is unspecified, whatever its other bits`(band: UInt32) {
    let qos = PackedQoS(rawValue: 1 << 12 | 3 << 8 | band)
    #expect(qos.band == .unspecified)
    #expect(qos.relativePriority == -3 && qos.isEnforced)
  }
}
