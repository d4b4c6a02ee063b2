// Numbers as people read them, and text as data.

import GrandCentral

/// Runs `body` and returns the time that it took.
func timed(_ body: () throws -> Void) rethrows -> Duration {
  try ContinuousClock().measure(body)
}

extension Duration {
  var seconds: Double { self / .seconds(1) }

  /// In milliseconds, or in microseconds if it is short: `12.3 ms`, `45 µs`.
  var words: String {
    self < .milliseconds(1) ? "\(Int(seconds * 1e6)) µs" : "\((seconds * 1000).short) ms"
  }
}

extension Double {
  var short: Double { (self * 10).rounded() / 10 }
}

extension Int {
  /// This many bytes per `time`: `123.4 MB/s`.
  func rate(per time: Duration) -> String { "\(Int(Double(self) / time.seconds).megabytes)/s" }

  /// In megabytes of 10⁶ bytes: `12.3 MB`.
  var megabytes: String { "\((Double(self) / 1e6).short) MB" }
}

extension String {
  /// This string, filled with spaces up to `width`; before it if `isRight`.
  func padded(to width: Int, isRight: Bool = false) -> String {
    let spaces = String(repeating: " ", count: Swift.max(0, width - count))
    return isRight ? spaces + self : self + spaces
  }
}

extension DispatchData {
  init(_ text: String) { self.init(Array(text.utf8)) }

  init(_ bytes: [UInt8]) { self = bytes.withUnsafeBytes { DispatchData(bytes: $0) } }
}
