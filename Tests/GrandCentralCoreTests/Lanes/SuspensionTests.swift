import Testing

@testable import GrandCentralCore

@Suite("A suspension") struct SuspensionTests {
  @Test(arguments: 1...4)
  func `ends with the last of as many resumes`(depth: Int) throws {
    var suspension = Suspension()
    #expect(!suspension.isBlocking)
    for _ in 0..<depth { suspension = try #require(suspension.suspended()) }
    #expect(suspension.count == UInt32(depth))
    for _ in 0..<depth {
      #expect(suspension.isBlocking)
      suspension = try #require(suspension.resumed())
    }
    #expect(!suspension.isBlocking)
    #expect(suspension == Suspension())
  }

  @Test func `cannot be resumed when there is none`() {
    #expect(Suspension().resumed() == nil)
    #expect(Suspension.inactive.resumed() == nil)
  }

  @Test func `cannot be counted beyond what its number holds`() {
    let most = Suspension.maxCount
    #expect(Suspension(count: most).suspended() == nil)
    #expect(Suspension(count: most - 1).suspended() == Suspension(count: most))
    let inactive = Suspension(rawValue: Suspension.inactive.rawValue | most)
    #expect(inactive.suspended() == nil && inactive.count == most && inactive.isInactive)
  }

  @Test func `is resumed in part while something remains`() {
    #expect(Suspension().resumedPartly() == nil)
    #expect(Suspension(count: 1).resumedPartly() == nil)
    #expect(Suspension(count: 2).resumedPartly() == Suspension(count: 1))
    #expect(Suspension.inactive.resumedPartly() == nil)
    #expect(Suspension.inactive.suspended()?.resumedPartly() == .inactive)
  }

  @Test func `of an inactive object needs activation and the balancing resumes`() throws {
    let suspended = try #require(Suspension.inactive.suspended())
    #expect(suspended.isInactive && suspended.count == 1)
    #expect(suspended.activated().isBlocking)
    let resumed = try #require(suspended.resumed())
    #expect(resumed.isBlocking && resumed == .inactive)
    #expect(!resumed.activated().isBlocking)
    #expect(try #require(suspended.activated().resumed()) == Suspension())
  }

  @Test func `is not changed by a second activation`() {
    #expect(Suspension().activated() == Suspension())
    #expect(Suspension(count: 2).activated() == Suspension(count: 2))
  }

  @Test func `lets a balanced and active object go`() {
    Suspension().requireReleasable(label: "balanced")
    Suspension.inactive.activated().requireReleasable(label: "activated")
  }
}
