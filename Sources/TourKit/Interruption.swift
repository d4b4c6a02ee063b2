// Purpose: Ctrl-C as a flag that work looks at between two pieces. The handler only stores a
// number, which is all that signal-safety(7) lets it do; leaving is done by ordinary code.
// When the engine has dispatch sources, a signal source can take this file's place.

import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

public enum Interruption {
  // relaxed throughout: the number stands alone, no other memory is read on its account.
  private static let first = Atomic<Int32>(0)
  private static let times = Atomic<Int>(0)

  /// From here on SIGINT, SIGTERM and SIGHUP raise the flag instead of ending the process.
  public static func watch() {
    // Reading both here runs their initialisers now, so that the handler never does.
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
    // Whoever started this process may have done so from a thread that blocks signals, and a
    // process begins with the mask of that thread.
    var mask = sigset_t()
    sigemptyset(&mask)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      sigaction(number, &action, nil)
      sigaddset(&mask, number)
    }
    sigprocmask(SIG_UNBLOCK, &mask, nil)
  }

  /// From here on SIGINT and SIGHUP, which a terminal sends to everybody, are left to the parent:
  /// it ends this process when it has said that it stops.
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

  /// The first signal that asked this process to stop; 0 while none has.
  public static var signal: Int32 { first.load(ordering: .relaxed) }

  /// How often it was asked.
  public static var count: Int { times.load(ordering: .relaxed) }

  public static var isRaised: Bool { signal != 0 }

  /// The exit code that a shell gives for ending by the signal: 130 for Ctrl-C.
  public static var exitCode: Int32 { 128 + signal }
}
