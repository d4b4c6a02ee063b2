import Testing

@testable import GrandCentralCore

@Suite("The mode of the monitor") struct MonitorModeTests {
  private let all: [MonitorMode] = [.absent, .starting, .watching, .asleep]

  private func expect(
    _ transition: (MonitorMode) -> MonitorMode?, from mode: MonitorMode, to next: MonitorMode,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for other in all {
      #expect(
        transition(other) == (other == mode ? next : nil), "from \(other)",
        sourceLocation: sourceLocation)
    }
  }

  @Test func `changes only from the mode before`() {
    expect({ $0.starting() }, from: .absent, to: .starting)
    expect({ $0.refused() }, from: .starting, to: .absent)
    expect({ $0.began() }, from: .starting, to: .watching)
    expect({ $0.resting() }, from: .watching, to: .asleep)
    expect({ $0.woken() }, from: .asleep, to: .watching)
    expect({ $0.ended() }, from: .asleep, to: .absent)
  }

  @Test func `has a thread while it watches or sleeps`() {
    #expect(all.filter(\.hasThread) == [.watching, .asleep])
  }

  @Test func `is one of four`() {
    #expect(Set(all).count == 4 && all.allSatisfy(\.isValid))
    #expect(!MonitorMode(rawValue: 4).isValid)
  }
}
