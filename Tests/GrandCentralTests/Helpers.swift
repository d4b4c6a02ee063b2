import GrandCentral
import TestSupport
import Testing

/// The two kinds of queue that a program creates, as a test argument.
enum QueueKind: CaseIterable, Sendable {
  case serial, concurrent

  var attributes: DispatchQueue.Attributes { self == .serial ? [] : .concurrent }
}

/// Runs other work in the pool for a while, so that work that starts by mistake can start.
func settle() {
  for round in 0..<20 {
    let done = Latch(4)
    for _ in 0..<4 { DispatchQueue.global().async { done.open() } }
    DispatchQueue(label: "settle.\(round)").sync {}
    _ = done.wait()
  }
}

/// Whether /proc shows a thread of this process as sleeping.
func isSleeping(_ threadID: Int) -> Bool {
  // proc(5): the state follows the name, which ends with the last parenthesis.
  guard let line = contents(of: "/proc/self/task/\(threadID)/stat"),
    let end = line.lastIndex(of: ")")
  else { return false }
  return line[end...].dropFirst(2).first == "S"
}

/// Cancels a source and waits for its cancel handler.
func cancelAndWait(_ source: any DispatchSourceProtocol) {
  let done = Latch()
  source.setCancelHandler { done.open() }
  source.cancel()
  #expect(done.wait())
}
