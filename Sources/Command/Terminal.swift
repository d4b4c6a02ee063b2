// The terminal while `top` shows its table: a screen of its own, without a cursor, keys at once.
// Whatever ends the command, the terminal gets its state back: an error, a signal, a fault of the
// command itself. SIGKILL alone cannot be caught; `reset` helps after it.
//   given back   signals have their usual effect: nothing is left to restore
//   taken        endings and others write their number into a pipe, so one poll(2) waits for keys,
//                signals and time. All other signals that end a process restore the terminal first
// While the command is stopped, or is in the background, the terminal is given back. So `kill` ends
// it there, too.
import Glibc

/// What a wait for the terminal brought.
enum TerminalEvent: Equatable {
  case key(UInt8)
  case signal(Int32)
  case time
}

/// What the handlers of signals need. Set before they are installed.
private struct SignalState {
  var pipe: Int32 = -1
  /// Whether the terminal has been changed.
  var isChanged = false
  var settings = termios()
}
// SAFETY: written by the command's only thread, while the signals' handlers do not run or only
// read.
private nonisolated(unsafe) let state = UnsafeMutablePointer<SignalState>.allocate(capacity: 1)

/// Signals with which a person or a supervisor ends the command.
private let endingSignals = [SIGHUP, SIGINT, SIGQUIT, SIGTERM]
/// All others that end a process: signal(7).
private let fatalSignals =
  [
    SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGILL, SIGPOLL, SIGPROF, SIGPWR, SIGSEGV, SIGSTKFLT, SIGSYS,
    SIGTRAP, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
  ] + Array(__libc_current_sigrtmin()...__libc_current_sigrtmax())
private let noticedSignals = [SIGTSTP, SIGCONT, SIGWINCH]

/// Leaves the screen and shows the cursor. Only calls that a signal handler may make.
private func restoreTerminal() {
  guard state.pointee.isChanged else { return }
  state.pointee.isChanged = false
  // Wrapping on, cursor on, the usual screen.
  let leave: StaticString = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"
  _ = write(STDOUT_FILENO, leave.utf8Start, leave.utf8CodeUnitCount)
  tcsetattr(STDIN_FILENO, TCSANOW, &state.pointee.settings)
}

final class Terminal {
  private let reader: Int32
  private var hasInput = true
  private let isShown: Bool

  /// `isShown`: takes the screen. Otherwise signals are waited for alone.
  init(isShown: Bool) {
    self.isShown = isShown
    var ends: [Int32] = [-1, -1]
    pipe(&ends)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    reader = ends[0]
    state.initialize(to: SignalState())
    state.pointee.pipe = ends[1]
    // A reader of a pipe that has gone shows in write(2).
    signal(SIGPIPE, SIG_IGN)
    if isShown { enter() } else { handle(endingSignals) }
  }

  /// Makes signals known to wait().
  private func handle(_ signals: [Int32]) {
    for number in signals {
      signal(number) { number in
        let saved = errno
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(state.pointee.pipe, &byte, 1)
        errno = saved
      }
    }
  }

  deinit { leave() }

  /// Gives the terminal back. Idempotent.
  func leave() { restoreTerminal() }

  /// Takes the screen, and keys as they are pressed.
  private func enter() {
    // Changes nothing, and stops the command until it is in the foreground: tcdrain(3).
    tcdrain(STDIN_FILENO)
    var settings = termios()
    hasInput = tcgetattr(STDIN_FILENO, &settings) == 0
    state.pointee.settings = settings
    state.pointee.isChanged = true
    handle(endingSignals + noticedSignals)
    for number in fatalSignals {
      signal(number) { number in
        restoreTerminal()
        signal(number, SIG_DFL)
        kill(getpid(), number)
      }
    }
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    if hasInput { tcsetattr(STDIN_FILENO, TCSANOW, &settings) }
    _ = writeAll("\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l", to: STDOUT_FILENO)
  }

  /// Stops the command as ^Z does, and takes the terminal again when it continues.
  func stop() {
    restoreTerminal()
    for number in endingSignals + noticedSignals { signal(number, SIG_DFL) }
    kill(getpid(), SIGTSTP)
    enter()
  }

  /// Columns and lines; 80 × 24 where the system does not say.
  var size: (columns: Int, lines: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Waits for a key, a signal, or the time.
  func wait(milliseconds: Int32) -> TerminalEvent {
    var waits = [
      pollfd(fd: reader, events: Int16(POLLIN), revents: 0),
      pollfd(fd: isShown && hasInput ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
    ]
    // EINTR: the signal's byte is in the pipe.
    guard poll(&waits, 2, milliseconds) != 0 else { return .time }
    var byte: UInt8 = 0
    if waits[0].revents != 0, read(reader, &byte, 1) == 1 { return .signal(Int32(byte)) }
    if waits[1].revents != 0 {
      if read(STDIN_FILENO, &byte, 1) == 1 { return .key(byte) }
      // The end of the input, which poll(2) would show again and again.
      hasInput = false
    }
    return .time
  }

  /// Shows lines, as many as there is room for. Returns false if the terminal has gone.
  func show(_ lines: [String]) -> Bool {
    let size = size
    var text = "\u{1b}[H"
    for (index, line) in lines.prefix(size.lines).enumerated() {
      text += (index == 0 ? "" : "\r\n") + Self.cut(line, to: size.columns) + "\u{1b}[K"
    }
    return writeAll(text + "\u{1b}[J", to: STDOUT_FILENO)
  }

  /// The beginning of a line with as many characters. The codes of colours count for nothing.
  static func cut(_ line: String, to columns: Int) -> String {
    var cut = ""
    var count = 0
    var isCode = false
    for character in line {
      if character == "\u{1b}" { isCode = true }
      if isCode {
        cut.append(character)
        if character.isLetter { isCode = false }
        continue
      }
      if count < columns { cut.append(character) }
      count += 1
    }
    return cut
  }
}
