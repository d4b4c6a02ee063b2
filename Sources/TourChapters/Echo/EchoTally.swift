// Purpose: the echo server's counts, for one connection or for all of them together.

struct EchoTally: Sendable, Equatable {
  var connections = 0
  /// The largest number of connections open at a time.
  var maxAtOnce = 0
  var bytesReceived = 0
  var bytesSent = 0
  /// How often an idle timer was set, and how many connections ended before theirs fired.
  var timersArmed = 0
  var timersCancelled = 0
  var idleClosed = 0
  /// The shortest silence after which an idle timer closed a connection, in nanoseconds.
  var shortestSilence = UInt64.max
  /// How often the server stopped reading because a client did not read.
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
