// Purpose: turns SIGINT, SIGTERM and SIGHUP into a flag that work checks between two pieces. The
// handler only stores numbers, which signal-safety(7) permits; ordinary code ends the process.

import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

public enum Interruption {
  // relaxed throughout: each number stands alone; no other memory is read on account of it.
  private static let first = Atomic<Int32>(0)
  private static let times = Atomic<Int>(0)

  /// Sets the flag at SIGINT, SIGTERM and SIGHUP from now on, instead of ending the process.
  public static func watch() {
    // Reading both here runs their initialisers now, so the handler never does.
    _ = (signal, count)
    var action = sigaction()
    let handler: @convention(c) (Int32) -> Void = { number in
      _ = Interruption.first.compareExchange(expected: 0, desired: number, ordering: .relaxed)
      Interruption.times.wrappingAdd(1, ordering: .relaxed)
    }
    #if canImport(Glibc)
      action.__sigaction_handler.sa_handler = handler
    #elseif canImport(Musl)
      action.__sa_handler.sa_handler = handler
    #endif
    action.sa_flags = Int32(SA_RESTART)
    // A process inherits the signal mask of the thread that created it, which may block signals.
    var mask = sigset_t()
    sigemptyset(&mask)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      sigaction(number, &action, nil)
      sigaddset(&mask, number)
    }
    sigprocmask(SIG_UNBLOCK, &mask, nil)
  }

  /// Ignores SIGINT and SIGHUP from now on. A terminal sends them to all processes of the group;
  /// the parent stops in order and then ends this process.
  public static func leaveToParent() {
    for number in [SIGINT, SIGHUP] { Self.ignore(number) }
  }

  private static func ignore(_ number: Int32) {
    #if canImport(Glibc)
      Glibc.signal(number, SIG_IGN)
    #elseif canImport(Musl)
      Musl.signal(number, SIG_IGN)
    #endif
  }

  /// The first signal that requested a stop; 0 if there is none.
  public static var signal: Int32 { first.load(ordering: .relaxed) }

  /// How many such signals arrived.
  public static var count: Int { times.load(ordering: .relaxed) }

  public static var isRaised: Bool { signal != 0 }

  /// The exit code that a shell reports for an end by the signal: 130 for SIGINT.
  public static var exitCode: Int32 { 128 + signal }
}
