import CGrandCentralLinux
import Glibc
import GrandCentral
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("Tasks that sleep on threads of the pool") struct TaskNameTests {
  @Test func `are named in the report of the queues that hold the threads`() async {
    let result = await #expect(
      processExitsWith: .exitCode(0), observing: [\.standardErrorContent]
    ) { reportTasks() }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("  4 × 'fetch.queue'\n"), "\(text)")
    #expect(text.contains("  They wait for:\n    4 × a semaphore\n"), "\(text)")
    #expect(text.contains("  Tasks that sleep on them:\n    3 × task 'fetch'\n"), "\(text)")
  }
}

/// Three tasks of one name, and one without, wait for a semaphore. Exits with 0 if their names were
/// known while they slept, and only then.
private func reportTasks() -> Never {
  let pool = Runtime.shared.pool
  let gate = DispatchSemaphore(value: 0)
  let queue = DispatchQueue(label: "fetch.queue", attributes: .concurrent)
  let haveEnded = Latch(4)
  for number in 0..<4 {
    Task.detached(name: number < 3 ? "fetch" : nil, executorPreference: queue) {
      sleep(at: gate)
      haveEnded.open()
    }
  }
  let wereNoted = eventually {
    pool.sleepingTasks().map(\.count) == [3] && pool.holders().first?.count == 4
      && holdersOnBoard().contains("4 × a semaphore")
  }
  pool.reportHolders(.limit)
  for _ in 0..<4 { gate.signal() }
  let wereCleared = haveEnded.wait() && eventually { pool.sleepingTasks().isEmpty }
  exit(wereNoted && wereCleared ? 0 : 1)
}

private func sleep(at gate: DispatchSemaphore) { gate.wait() }

/// The lines of the report that come from the board. A thread is on it as one that waits, and the
/// kernel shows it asleep, later than the pool knows its task.
private func holdersOnBoard() -> String {
  guard let text = gc_board_holders_of_process() else { return "" }
  defer { free(text) }
  return String(cString: text)
}
