// Cancelled sleeps keep their memory until their deadline
//
// A server gives each request a timeout: a task that sleeps, and is cancelled when the answer is
// there. The runtime leaves the job of the sleep with the library until the time has passed.
//
// Ours: the job is the runtime's, which offers no way to withdraw it; less of it stays here.
// A program that imports GrandCentral with the trait `ExecutorFactory` keeps none of it.
import Dispatch

func body() {
  let count = 20_000
  @Sendable func sleepAndCancel(_ count: Int) async {
    for _ in 0..<count {
      let sleep = Task { try? await Task.sleep(for: .seconds(3600)) }
      await Task.yield()
      sleep.cancel()
      await sleep.value
    }
  }
  let isDone = DispatchSemaphore(value: 0)
  Task {
    awaiting("the cancelled sleeps")
    await sleepAndCancel(100)
    let before = resident_kib()
    await sleepAndCancel(count)
    let grown = resident_kib() - before
    decide(grown < 2048, "after \(count) cancelled sleeps the process is \(grown) KiB larger")
  }
  isDone.wait()
}

promise("20,000 cancelled sleeps of an hour keep less than 2 MiB", body)
