// Purpose: standard output as a terminal or as plain lines. A terminal redraws one line with a bar
// in place; other outputs get one line a second.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The capabilities of standard output.
public struct Screen: Sendable {
  public let isTerminal: Bool
  private let hasColor: Bool
  private let hasBlocks: Bool

  /// Examines standard output and the environment. `plain` requests lines even on a terminal.
  public init(plain: Bool) {
    func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
    isTerminal = !plain && isatty(STDOUT_FILENO) == 1 && !["", "dumb"].contains(variable("TERM"))
    hasColor = isTerminal && variable("NO_COLOR").isEmpty
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].map(variable).first { !$0.isEmpty } ?? ""
    hasBlocks = locale.lowercased().contains("utf-8") || locale.lowercased().contains("utf8")
  }

  /// The time between two drawings, in nanoseconds: 50 ms on a terminal, 1 s elsewhere.
  public var intervalNanoseconds: UInt64 { isTerminal ? 50_000_000 : 1_000_000_000 }

  public var columns: Int {
    var size = winsize()
    let result = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size)
    return result == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }

  public func hideCursor() {
    if isTerminal { Machine.say("\u{1B}[?25l") }
  }

  public func showCursor() {
    if isTerminal { Machine.say("\u{1B}[?25h") }
  }

  /// Clears the line that is redrawn.
  public func clearLine() {
    if isTerminal { Machine.say("\r\u{1B}[K") }
  }

  public func bold(_ text: String) -> String { hasColor ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
  public func dim(_ text: String) -> String { hasColor ? "\u{1B}[2m\(text)\u{1B}[0m" : text }
  public func green(_ text: String) -> String { hasColor ? "\u{1B}[32m\(text)\u{1B}[0m" : text }
  public func red(_ text: String) -> String { hasColor ? "\u{1B}[31m\(text)\u{1B}[0m" : text }

  /// The sign for a check that held; "ok" if the locale has no such character.
  public var tick: String { green(hasBlocks ? "✓" : "ok") }

  /// Characters for amounts, lowest first, as the locale permits.
  public var levels: [Character] { Array(hasBlocks ? "▁▂▃▄▅▆▇█" : ".:-=+*#@") }

  /// A bar of `width` columns, of which the fraction `share` is full.
  public func bar(_ share: Double, width: Int) -> String {
    let full = Int((max(0, min(1, share)) * Double(width)).rounded(.down))
    let (on, off) = hasBlocks ? ("█", "░") : ("#", "-")
    return green(String(repeating: on, count: full))
      + dim(String(repeating: off, count: width - full))
  }
}

/// The line that shows a run's progress.
public struct ProgressLine: Sendable {
  public let screen: Screen
  public let title: String
  /// The number of bytes that an earlier run found; zero for the first run.
  public let expectedBytes: Int

  public init(screen: Screen, title: String, expectedBytes: Int) {
    self.screen = screen
    self.title = title
    self.expectedBytes = expectedBytes
  }

  /// Draws the line with the current counts of `gauge`.
  public func draw(_ gauge: Gauge) {
    let (files, bytes) = gauge.figures
    let seconds = Machine.seconds(since: gauge.start)
    let rate = Wording.bytes(Double(bytes) / max(seconds, 1e-6)) + "/s"
    let done = "\(Wording.count(files, "file")), \(Wording.bytes(bytes))"
    guard screen.isTerminal else {
      return Machine.say("  \(title): \(done) so far, \(rate)\n")
    }
    var line = "  " + Wording.left(title, 34)
    let columns = screen.columns
    let figures = "  \(done), \(rate)"
    let width = min(30, columns - line.count - figures.count - 1)
    guard width >= 5 else {
      return Machine.say("\r" + String((line + figures).prefix(columns - 1)) + "\u{1B}[K")
    }
    if expectedBytes > 0 {
      line += screen.bar(Double(bytes) / Double(expectedBytes), width: width)
    }
    Machine.say("\r" + line + figures + "\u{1B}[K")
  }
}
