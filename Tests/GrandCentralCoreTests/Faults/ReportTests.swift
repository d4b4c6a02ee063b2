// The reports that are always printed, and those printed on request.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A report") struct ReportTests {
  private static let harmless: Set<ReportKind> = [
    .descriptorClosedEarly, .fileEventsDropped, .ringLost, .signalsUnknown,
  ]

  @Test func `of something harmless is printed on request only`() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) { reportAll() }
    let expected = ReportKind.allCases.filter { !Self.harmless.contains($0) }
    #expect(reported(result) == expected.map { "\($0)" })
  }

  @Test func `of every kind is printed when all are asked for`() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      wantAllReports()
      reportAll()
    }
    #expect(reported(result) == ReportKind.allCases.map { "\($0)" })
  }

  @Test func `about the variable itself is printed once when its value is invalid`() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      setenv("GRANDCENTRAL_REPORTS", "yes", 1)
      reportAll()
      reportAll()
    }
    let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    let lines = errors.split(separator: "\n").filter { $0.contains("GRANDCENTRAL_REPORTS='yes'") }
    #expect(lines.count == 1 && errors.contains("is not 'all' and is ignored"), "\(errors)")
    let always = ReportKind.allCases.count - Self.harmless.count
    #expect(reported(result).count == 2 * always, "\(errors)")
  }

  private func reported(_ result: ExitTest.Result?) -> [String] {
    let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    return errors.split(separator: "\n").compactMap {
      $0.hasPrefix("kind ") ? String($0.dropFirst(5)) : nil
    }
  }
}

private func reportAll() {
  // The test library may write a mark before the first line of a child.
  report(.clientText, "begin")
  for kind in ReportKind.allCases { report(kind, "kind \(kind)") }
}
