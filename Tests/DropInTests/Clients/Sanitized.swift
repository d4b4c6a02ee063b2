// Barriers, serial queues and targets order accesses for the thread sanitizer. No barrier goes into
// a group here: the sanitizer's runtime wraps a group's items, and the wrapper loses the barrier
// flag. With an argument, two items of a global queue race.
import Dispatch
import Glibc
import Synchronization

final class Box: @unchecked Sendable { var n = 0 }
let box = Box()
let begun = Atomic<Int>(0)
let readers = DispatchQueue(label: "readers", attributes: .concurrent)
for _ in 0..<100 {
  readers.async(flags: .barrier) { box.n += 1 }
  readers.async { _ = box.n }
}
readers.sync(flags: .barrier) {}
let serial = DispatchQueue(label: "serial")
let onSerial = DispatchQueue(label: "on serial", attributes: .concurrent, target: serial)
for _ in 0..<100 {
  serial.async { box.n += 1 }
  onSerial.async { box.n += 1 }
  onSerial.async(flags: .barrier) { box.n += 1 }
}
onSerial.sync(flags: .barrier) {}
let fired = DispatchSemaphore(value: 0)
let timer = DispatchSource.makeTimerSource(queue: serial)
timer.setEventHandler {
  box.n += 1
  fired.signal()
}
timer.schedule(deadline: .now())
timer.activate()
fired.wait()
if CommandLine.arguments.count > 1 {
  let shared = Box()
  let both = DispatchGroup()
  // Each item spins until both have begun, so they run on two threads. Nothing orders the accesses:
  // a wait of the library would, through what its threads share.
  for _ in 0..<2 {
    DispatchQueue.global().async(group: both) {
      begun.wrappingAdd(1, ordering: .relaxed)
      while begun.load(ordering: .relaxed) < 2 {}
      shared.n += 1
    }
  }
  both.wait()
}
DispatchQueue.main.async {
  print("n=\(serial.sync { box.n })")
  exit(0)
}
dispatchMain()
