// Room: Faults/Reports. Which reports are printed: lines on standard error, after which the process
// continues. A line on standard error is for a person who can act on it.
//   broken contract          stops the process: see Faults
//   late or refused work     always reported: the person who runs the program can raise a limit, give a permission,
//                            correct a setting
//   what harms nothing       reported on request, for the author of the code: it may be the doing of a library that
//                            neither the program's author nor its user can change
// Docs/Reports.md lists every kind.

/// A kind of report. The text, and how often it is printed, are at the call.
package enum ReportKind: CaseIterable {
  // Work is late until the system gives what it refused.
  case threadRefused, threadLimitReached, eventsRefused
  // A source that was asked for hears nothing, or not all.
  case fileCannotBeWatched, memoryPressureUnknown, forksUnknown
  // How the process was put together or configured.
  case duplicateEngine, settingIgnored, ringRefusedThoughAskedFor
  // A program's own words, and what a library reports through the C interface.
  case clientText

  // Harmless: the engine does without, or the source has nothing more to hear.
  case descriptorClosedEarly, fileEventsDropped, ringLost, signalsUnknown

  /// Whether it is printed without being asked for.
  package var isAlwaysPrinted: Bool {
    switch self {
    case .threadRefused, .threadLimitReached, .eventsRefused: true
    case .fileCannotBeWatched, .memoryPressureUnknown, .forksUnknown: true
    case .duplicateEngine, .settingIgnored, .ringRefusedThoughAskedFor: true
    case .clientText: true
    case .descriptorClosedEarly, .fileEventsDropped, .ringLost, .signalsUnknown: false
    }
  }

  /// `GRANDCENTRAL_REPORTS=all` asks for every report, in Swift and C programs alike. Read at the
  /// first use.
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

/// Writes one line to standard error, if reports of that kind are printed.
package func report(_ kind: ReportKind, _ line: @autoclosure () -> String) {
  if kind.isPrinted { writeReport(line()) }
}
