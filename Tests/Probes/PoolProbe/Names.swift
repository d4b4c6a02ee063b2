// The names of the pool's threads while items run, in a process whose monitor sleeps.
import Glibc
import GrandCentral
import TestSupport

/// Returns the name of the thread that runs the closure which `start` submits.
private func nameSeen(_ start: (@escaping @Sendable () -> Void) -> Void) -> String {
  let seen = Log<String>()
  start { seen.append(threadName()) }
  _ = seen.waitForCount(1)
  return seen.all[0]
}

/// Whether every thread but the main thread, event threads included, has its name without work.
private func areAllPlain() -> Bool {
  processThreads().allSatisfy { $0.id == Int(getpid()) || $0.name.hasPrefix("gc-") }
}

/// Whether a thread keeps the queue's name for 10 ms after three items in quick succession.
private func keepsName(after queue: DispatchQueue) -> Bool {
  for _ in 0..<3 {
    _ = nameSeen { work in queue.async { work() } }
    sleepMilliseconds(1)
  }
  return (0..<5).allSatisfy { _ in
    sleepMilliseconds(2)
    return processThreads().contains { $0.name == "quiet.serial" }
  }
}

/// Prints for each kind of work the thread's name when the work starts. No other work runs.
func quietNames() {
  let process = threadName()
  let serial = DispatchQueue(label: "quiet.serial")
  let concurrent = DispatchQueue(label: "quiet.together", attributes: .concurrent)
  say("serial", nameSeen { work in serial.async { work() } })
  say("concurrent", nameSeen { work in concurrent.async { work() } })
  say("barrier", nameSeen { work in concurrent.async(flags: .barrier) { work() } })
  let inner = DispatchQueue(label: "quiet.inner", target: serial)
  say("inner", nameSeen { work in inner.async { work() } })
  say("global", nameSeen { work in DispatchQueue.global().async { work() } })
  let long = DispatchQueue(label: "quiet.äöüäöüäöü")
  say("long", nameSeen { work in long.async { work() } })
  say("after", nameSeen { work in serial.asyncAfter(deadline: .now()) { work() } })
  say("becamePlain", eventually(areAllPlain))
  say("kept", eventually { keepsName(after: serial) })
  say("becamePlainAgain", eventually(areAllPlain))
  say("process", process == threadName())
  serial.sync { say("sync", process == threadName()) }
}

/// The same for handlers of sources, which run on threads that wait for events.
func quietHandlerNames() {
  let serial = DispatchQueue(label: "quiet.serial")
  let concurrent = DispatchQueue(label: "quiet.together", attributes: .concurrent)
  for (name, queue) in [("serial", serial), ("concurrent", concurrent)] {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + .milliseconds(1))
    say(
      name + "Timer",
      nameSeen { work in
        timer.setEventHandler { work() }
        timer.activate()
      })
    timer.cancel()
    let adder = DispatchSource.makeUserDataAddSource(queue: queue)
    say(
      name + "Data",
      nameSeen { work in
        adder.setEventHandler { work() }
        adder.activate()
        adder.add(data: 1)
      })
    adder.cancel()
  }
  say("becamePlain", eventually(areAllPlain))
}

/// Items pass control from queue to queue; each queue is released soon after. Counts the items that
/// ran on a thread that kept another queue's label. A thread may have such a label for a moment,
/// because the monitor names a thread that is about to leave an item.
func passingNames() {
  let wrong = Counter()
  let labelled = Counter()
  let done = Latch(16)
  @Sendable func hop(_ chain: Int, _ left: Int) {
    let label = "chain.\(chain).\(left)"
    DispatchQueue(label: label).async {
      if threadName() == label { labelled.add() }
      if !eventually({ threadName() == label || threadName().hasPrefix("gc-") }) { wrong.add() }
      if left % 8 == 0 {
        // An item of a queue without a label, usually on the same thread.
        DispatchQueue.global().async {
          if !eventually({ threadName().hasPrefix("gc-") }) { wrong.add() }
          left > 0 ? hop(chain, left - 1) : done.open()
        }
      } else {
        hop(chain, left - 1)
      }
    }
  }
  for chain in 0..<16 { hop(chain, 400) }
  _ = done.wait()
  say("labelled", labelled.value)
  say("wrong", wrong.value)
  say("becamePlain", eventually(areAllPlain))
}

/// An item of a queue that other queues target, after an item of one of those.
func outerNames() {
  let outer = DispatchQueue(label: "names.outer")
  let inner = DispatchQueue(label: "names.inner", attributes: .concurrent, target: outer)
  let names = Log<String>()
  let gate = Latch()
  outer.async { _ = gate.wait() }
  inner.async { names.append(threadName()) }
  outer.async { names.append(threadName()) }
  gate.open()
  _ = names.waitForCount(2)
  say("names", names.all.joined(separator: "|"))
}
