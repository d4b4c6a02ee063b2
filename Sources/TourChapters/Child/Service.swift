// Purpose: the program that is supervised: this one once more, with these arguments. It fails in a
// different way each time that it is started, and then stays until it is asked to go.

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

  /// Reads the arguments of a service's process; nil when these are not such.
  public init?(arguments: [Path]) {
    guard arguments.count == 2, arguments[0].description == Self.mark,
      let fate = Fate(rawValue: arguments[1].description)
    else { return nil }
    self.init(fate)
  }

  var arguments: [Path] { [Self.mark, fate.rawValue].map { Path($0) } }

  /// What its supervisor sees of a run that is not asked to stop.
  var ending: Ending? {
    switch fate {
    case .exits: .exited(3)
    case .aborts: .signalled(SIGABRT)
    case .isKilled: .signalled(SIGKILL)
    case .stays: nil
    }
  }

  /// Is the service. It says "ready" when it works, and "asked to stop" before it leaves in order.
  public func run() -> Never {
    switch fate {
    case .exits: Machine.leave(3)
    case .aborts:
      // As a crash, but without a core file and without whatever else is set up to look at crashes.
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
    // A service whose supervisor has gone has nobody to work for.
    let input = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .main)
    input.setEventHandler {
      var byte: UInt8 = 0
      if read(STDIN_FILENO, &byte, 1) <= 0 { Machine.leave(1) }
    }
    input.activate()
    dispatchMain()
  }
}
