// Purpose: the supervised program: this executable, started with the arguments below. Each run
// fails in a different way; the last one works until it is stopped.

import GrandCentral
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

public struct Service: Sendable, Equatable {
  /// How a run of the service ends.
  enum Fate: String, Sendable {
    case exits, aborts, isKilled, stays
  }

  let fate: Fate

  private static let mark = "--service-process"

  init(_ fate: Fate) { self.fate = fate }

  /// Parses the arguments of a service's process; nil if they are not of that form.
  public init?(arguments: [Path]) {
    guard arguments.count == 2, arguments[0].description == Self.mark,
      let fate = Fate(rawValue: arguments[1].description)
    else { return nil }
    self.init(fate)
  }

  var arguments: [Path] { [Self.mark, fate.rawValue].map { Path($0) } }

  /// How a run ends that is not stopped, as the supervisor sees it; nil for a run that stays.
  var ending: Ending? {
    switch fate {
    case .exits: .exited(3)
    case .aborts: .signalled(SIGABRT)
    case .isKilled: .signalled(SIGKILL)
    case .stays: nil
    }
  }

  /// Runs the service. It prints "ready" when it works, and "asked to stop" before an orderly exit.
  public func run() -> Never {
    switch fate {
    case .exits: Machine.leave(3)
    case .aborts:
      // A crash without a core file, and without the crash reporters of the machine.
      var none = rlimit()
      #if canImport(Glibc)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
      #else
        setrlimit(RLIMIT_CORE, &none)
      #endif
      signal(SIGABRT, SIG_DFL)
      abort()
    case .isKilled:
      kill(getpid(), SIGKILL)
      while true { pause() }
    case .stays: stay()
    }
  }

  private func stay() -> Never {
    signal(SIGTERM, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .main)
    source.setRegistrationHandler { Machine.say("ready\n") }
    source.setEventHandler {
      Machine.say("asked to stop\n")
      source.cancel()
    }
    source.setCancelHandler { Machine.leave(0) }
    source.activate()
    // End of input means that the supervisor has ended; the service then ends too.
    let input = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .main)
    input.setEventHandler {
      var byte: UInt8 = 0
      if read(STDIN_FILENO, &byte, 1) <= 0 { Machine.leave(1) }
    }
    input.activate()
    dispatchMain()
  }
}
