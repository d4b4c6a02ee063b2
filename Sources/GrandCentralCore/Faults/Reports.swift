// Room: Faults/Reports. Which reports are printed.
// A report is a line on standard error, after which the process continues. It is meant for a person
// that can act on it.
//   broken contract          stops the process: see Faults
//   late or refused work     always reported: the operator of the program can raise a limit,
//                            give a permission, correct a setting
//   harmless events          reported on request, for the author of the code: the cause may be a
//                            library that neither the program's author nor its user can change
// Docs/Reports.md lists every kind.

/// A kind of report. The call of report() has the text and decides how often it is printed.
package enum ReportKind: CaseIterable {
  // Work is late until the system gives what it refused.
  case threadRefused, threadLimitReached, eventsRefused, memoryRefused
  // What hangs, on request of the environment.
  case stuck
  // A source receives none, or only some, of its events.
  case fileCannotBeWatched, memoryPressureUnknown, forksUnknown
  // The process is linked or configured in an unexpected way.
  case duplicateEngine, settingIgnored, ringRefusedThoughAskedFor
  // A program's own text, and what a library reports through the C interface.
  case clientText

  // Harmless: the engine works without it, or the source has no further events.
  case descriptorClosedEarly, fileEventsDropped, ringLost, signalsUnknown

  /// Whether the kind is printed without a request.
  package var isAlwaysPrinted: Bool {
    switch self {
    case .threadRefused, .threadLimitReached, .eventsRefused, .memoryRefused, .stuck: true
    case .fileCannotBeWatched, .memoryPressureUnknown, .forksUnknown: true
    case .duplicateEngine, .settingIgnored, .ringRefusedThoughAskedFor: true
    case .clientText: true
    case .descriptorClosedEarly, .fileEventsDropped, .ringLost, .signalsUnknown: false
    }
  }

  /// Whether `GRANDCENTRAL_REPORTS=all` requests every report, in Swift and C programs alike. Read
  /// at the first use.
  private static let areAllWanted: Bool = {
    switch Process.environment("GRANDCENTRAL_REPORTS") {
    case nil: return false
    case "all": return true
    case .some(let text):
      writeReport("GRAND CENTRAL: GRANDCENTRAL_REPORTS='\(text)' is not 'all' and is ignored.")
      return false
    }
  }()

  package var isPrinted: Bool { isAlwaysPrinted || Self.areAllWanted }
}

/// Writes one line to standard error, if reports of this kind are printed.
package func report(_ kind: ReportKind, _ line: @autoclosure () -> String) {
  if kind.isPrinted { writeReport(line()) }
}
