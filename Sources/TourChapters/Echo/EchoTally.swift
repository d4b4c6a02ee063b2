// Purpose: what the echo server counts, for one connection and added up.

struct EchoTally: Sendable, Equatable {
  var connections = 0
  /// The most at a time.
  var maxAtOnce = 0
  var bytesReceived = 0
  var bytesSent = 0
  /// How often an idle timer was set, and how many ended before they fired.
  var timersArmed = 0
  var timersCancelled = 0
  var idleClosed = 0
  /// Nanoseconds; the shortest after which a timer closed a connection.
  var shortestSilence = UInt64.max
  /// How often a client had to wait because it did not read.
  var pauses = 0
  var maxBytesHeld = 0
  var faults: [String] = []

  mutating func add(_ other: EchoTally) {
    connections += other.connections
    maxAtOnce = max(maxAtOnce, other.maxAtOnce)
    bytesReceived += other.bytesReceived
    bytesSent += other.bytesSent
    timersArmed += other.timersArmed
    timersCancelled += other.timersCancelled
    idleClosed += other.idleClosed
    shortestSilence = min(shortestSilence, other.shortestSilence)
    pauses += other.pauses
    maxBytesHeld = max(maxBytesHeld, other.maxBytesHeld)
    faults += other.faults
  }
}
