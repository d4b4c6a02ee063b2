// The share of the CPUs that the process used: part of contract row T3.
import Testing

@testable import GrandCentralCore

@Suite("The CPU time of the process") struct ProcessCPUTimeTests {
  @Test func `is a rate over some ticks of the kernel`() {
    var time = ProcessCPUTime()
    let window = ProcessCPUTime.windowNanoseconds
    time.note(7_000_000_000, at: 1)
    time.note(7_000_000_000 + window, at: window)
    #expect(time.perSecond == nil, "the window has not ended")
    time.note(7_000_000_000 + 2 * window, at: 1 + window)
    #expect(time.perSecond == 2_000_000_000, "two CPUs")
    time.note(7_000_000_000 + 2 * window, at: 1 + 2 * window - 1)
    #expect(time.perSecond == 2_000_000_000)
    time.note(7_000_000_000 + 2 * window + window / 4, at: 1 + 2 * window)
    #expect(time.perSecond == 250_000_000)
  }
}
