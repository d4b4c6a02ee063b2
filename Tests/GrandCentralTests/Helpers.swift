import GrandCentral
import TestSupport
import Testing

/// The two kinds of queue that a program makes, as a test argument.
enum QueueKind: CaseIterable, Sendable {
  case serial, concurrent

  var attributes: DispatchQueue.Attributes { self == .serial ? [] : .concurrent }
}

/// Lets the pool run other work for a while: whatever could start by mistake gets its chance.
func settle() {
  for round in 0..<20 {
    let done = Latch(4)
    for _ in 0..<4 { DispatchQueue.global().async { done.open() } }
    DispatchQueue(label: "settle.\(round)").sync {}
    _ = done.wait()
  }
}

/// Whether the kernel says that a thread of this process sleeps.
func isSleeping(_ threadID: Int) -> Bool {
  // man 5 proc: the state follows the name, which ends with the last parenthesis.
  guard let line = contents(of: "/proc/self/task/\(threadID)/stat"),
    let end = line.lastIndex(of: ")")
  else { return false }
  return line[end...].dropFirst(2).first == "S"
}

/// Cancels, and waits for the cancel handler.
func cancelAndWait(_ source: any DispatchSourceProtocol) {
  let done = Latch()
  source.setCancelHandler { done.open() }
  source.cancel()
  #expect(done.wait())
}
