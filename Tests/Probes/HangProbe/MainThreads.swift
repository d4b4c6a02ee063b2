// Main threads that wait, and main queues that they drain or do not.
import Glibc
import GrandCentral

/// The main thread stays alive in a group, and a timer brings work from time to time.
let heartbeat = DispatchSource.makeTimerSource(queue: .global())

func keptAlive() -> Never {
  heartbeat.schedule(deadline: .now() + 3600, repeating: 3600)
  heartbeat.setEventHandler {}
  heartbeat.resume()
  waitOnMainThread()
}

/// The main thread waits for a group that an item has not left.
func waitOnMainThread() -> Never {
  let group = DispatchGroup()
  DispatchQueue.global().async(group: group) { group.enter() }
  _ = write(STDOUT_FILENO, "ready\n", 6)
  group.wait()
  exit(70)
}

/// The main thread stays alive in a group, and another thread of the program waits for input, on
/// which it might leave.
func keptAliveByThread() -> Never {
  startThread { announceAndWait() }
  let group = DispatchGroup()
  group.enter()
  group.wait()
  exit(70)
}

/// The engine is used for one source of the main queue, and nothing else.
func serve(_ source: any DispatchSourceProtocol) -> Never {
  source.setEventHandler {}
  source.resume()
  startThread { announceAndWait() }
  dispatchMain()
}

func serveTimer() -> Never {
  heartbeatOfMain.schedule(deadline: .now() + 3600, repeating: 3600)
  serve(heartbeatOfMain)
}

let heartbeatOfMain = DispatchSource.makeTimerSource(queue: .main)

/// A timer of a queue is all that the engine is used for.
func armTimer() {
  heartbeat.schedule(deadline: .now(), repeating: 0.001)
  heartbeat.setEventHandler {}
  heartbeat.resume()
}

/// Work comes to the main queue of a program whose main thread is not in dispatchMain(), and other
/// queues work.
func undrainedMainQueue() {
  DispatchQueue.main.async { exit(70) }
  healthy()
}

/// The main thread waits for what an item of the main queue would signal.
func waitOnMainThreadForMainQueue() -> Never {
  let done = DispatchSemaphore(value: 0)
  DispatchQueue.main.async { done.signal() }
  _ = write(STDOUT_FILENO, "ready\n", 6)
  done.wait()
  exit(70)
}

/// The program of undrainedMainQueue() drains its main queue.
func drainedMainQueue() -> Never {
  DispatchQueue.main.async {
    healthy()
    startThread { announceAndWait() }
  }
  dispatchMain()
}
