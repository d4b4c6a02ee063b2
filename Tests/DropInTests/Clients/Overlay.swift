import Dispatch
import Glibc

struct Refused: Error {}
let serial = DispatchQueue(label: "serial")
let concurrent = DispatchQueue(label: "concurrent", qos: .utility, attributes: .concurrent)
nonisolated(unsafe) var n = 0
for _ in 0..<1000 { serial.async { n += 1 } }
print("async=\(serial.sync { n })")
print("sync=\(concurrent.sync { 42 })")
do { try serial.sync { throw Refused() } } catch { print("threw=\(error is Refused)") }
nonisolated(unsafe) var barriers = 0
for _ in 0..<100 { concurrent.async(flags: .barrier) { barriers += 1 } }
print("barrier=\(concurrent.sync(flags: .barrier) { barriers })")

let group = DispatchGroup()
for _ in 0..<10 { concurrent.async(group: group) { usleep(100) } }
print("group=\(group.wait(timeout: .now() + 60))")

nonisolated(unsafe) var performed = 0
let item = DispatchWorkItem(qos: .userInitiated) { performed += 1 }
serial.async(execute: item)
item.wait()
let cancelled = DispatchWorkItem { performed += 1 }
cancelled.cancel()
serial.async(execute: cancelled)
serial.sync {}
print("item=\(performed) \(cancelled.isCancelled)")

let key = DispatchSpecificKey<Int>()
serial.setSpecific(key: key, value: 7)
let child = DispatchQueue(label: "child", target: serial)
print("specific=\(child.sync { DispatchQueue.getSpecific(key: key) } ?? 0)")

let sums = UnsafeMutablePointer<Int>.allocate(capacity: 101)
nonisolated(unsafe) let slots = sums
DispatchQueue.concurrentPerform(iterations: 101) { slots[$0] = $0 }
print("perform=\((0..<101).reduce(0) { $0 + slots[$1] })")
print("semaphore=\(DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(1)))")

func bytes(_ text: String) -> DispatchData {
  Array(text.utf8).withUnsafeBytes { DispatchData(bytes: $0) }
}
var data = bytes("hello")
data.append(bytes("hello"))
func text(_ data: DispatchData) -> String { String(decoding: data, as: UTF8.self) }
print("data=\(text(data)) \(text(data.subdata(in: 2..<7)))")

let fired = DispatchSemaphore(value: 0)
let timer = DispatchSource.makeTimerSource(queue: serial)
nonisolated(unsafe) var fires = 0
timer.setEventHandler {
  fires += 1
  if fires == 3 {
    timer.cancel()
    fired.signal()
  }
}
timer.schedule(deadline: .now(), repeating: .milliseconds(2), leeway: .milliseconds(1))
timer.activate()
fired.wait()
print("timer=\(serial.sync { fires })")

let adder = DispatchSource.makeUserDataAddSource(queue: serial)
nonisolated(unsafe) var total: UInt = 0
adder.setEventHandler {
  total += adder.data
  if total == 6 { fired.signal() }
}
adder.activate()
for number: UInt in 1...3 { adder.add(data: number) }
fired.wait()
print("add=\(serial.sync { total })")

var ends: [Int32] = [0, 0]
pipe(&ends)
let reader = DispatchSource.makeReadSource(fileDescriptor: ends[0], queue: serial)
nonisolated(unsafe) var readable: UInt = 0
reader.setEventHandler {
  readable = reader.data
  reader.cancel()
}
reader.setCancelHandler { fired.signal() }
reader.activate()
write(ends[1], "hello", 5)
fired.wait()
print("read=\(serial.sync { readable })")

let channel = DispatchIO(type: .stream, fileDescriptor: ends[0], queue: serial) { _ in
  fired.signal()
}
nonisolated(unsafe) var received = DispatchData.empty
channel.read(offset: 0, length: 5, queue: serial) { done, data, _ in
  if let data { received.append(data) }
  if done { channel.close() }
}
fired.wait()
print("io=\(text(received))")
print("qos=\(concurrent.qos.qosClass)")

let moved = DispatchQueue(label: "moved", attributes: .initiallyInactive)
moved.setTarget(queue: serial)
moved.activate()
moved.sync { dispatchPrecondition(condition: .onQueue(serial)) }
print("target=true")

let deadline = DispatchTime.now() + .milliseconds(5)
nonisolated(unsafe) var isInTime = false
serial.asyncAfter(deadline: deadline) {
  isInTime = DispatchTime.now() >= deadline
  fired.signal()
}
fired.wait()
print("after=\(serial.sync { isInTime })")
DispatchQueue.global().async {
  DispatchQueue.main.sync { dispatchPrecondition(condition: .onQueue(.main)) }
  DispatchQueue.main.async {
    print("main=true")
    exit(0)
  }
}
dispatchMain()
