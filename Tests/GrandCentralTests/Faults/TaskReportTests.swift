// Reports that name tasks and actors: contract row X1.
import GrandCentral
import TestSupport
import Testing

/// The tasks prefer a queue of the engine, so that the width of the toolchain's pool is no limit.
@Suite("A report of the engine") struct TaskReportTests {
  @Test func `names the tasks of a deadlock cycle and their actors`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { cycleOfTasks() }
    expectReport(result, names: ["cycle.task.0", "cycle.task.1"], says: ["sync|wait"])
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("(task 'transfer-0') waits for queue 'cycle.task.1'"), "\(text)")
    let account = "(task 'transfer-1' on actor 'GrandCentralTests.Account')"
    #expect(text.contains("\(account) waits for queue 'cycle.task.0'"), "\(text)")
  }

  @Test func `names the task that calls sync on its own queue`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let queue = DispatchQueue(label: "deadlock.task")
      Task.detached(name: "import", executorPreference: queue) { queue.sync {} }
      waitForReport()
    }
    expectReport(result, names: ["deadlock.task"], says: ["in task 'import'"])
  }

  @Test func `names no task where there is none`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let queue = DispatchQueue(label: "deadlock.none")
      queue.async { queue.sync {} }
      waitForReport()
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("deadlock.none") && !text.contains("task"), "\(text)")
  }
}

private func cycleOfTasks() {
  let queues = (0..<2).map { DispatchQueue(label: "cycle.task.\($0)") }
  let inside = Latch(2)
  let workers = DispatchQueue(label: "cycle.workers", attributes: .concurrent)
  Task.detached(name: "transfer-0", executorPreference: workers) {
    cross(queues[0], queues[1], inside)
  }
  let account = Account()
  Task.detached(name: "transfer-1", executorPreference: workers) {
    await account.transfer(queues[1], queues[0], inside)
  }
  waitForReport()
}

private func cross(_ one: DispatchQueue, _ other: DispatchQueue, _ inside: Latch) {
  one.sync {
    inside.open()
    _ = inside.wait()
    other.sync {}
  }
}

actor Account {
  func transfer(_ one: DispatchQueue, _ other: DispatchQueue, _ inside: Latch) {
    cross(one, other, inside)
  }
}
