import CFaults
import Glibc
import GrandCentral
import TestSupport

/// Uses everything in a child that any process can use.
func useEverything() {
  useQueues()
  useCoordination()
  useEvents()
  useChannels()
}

func useQueues() {
  let serial = DispatchQueue(label: "child.serial")
  let order = Log<Int>()
  for number in 0..<100 { serial.async { order.append(number) } }
  check(serial.sync { order.all } == Array(0..<100), "a serial queue runs in order")
  let concurrent = DispatchQueue(label: "child.concurrent", attributes: .concurrent)
  let count = Counter()
  for _ in 0..<100 { concurrent.async { count.add() } }
  check(concurrent.sync(flags: .barrier) { count.value } == 100, "a barrier comes last")
  let iterations = Counter()
  DispatchQueue.concurrentPerform(iterations: 100) { _ in iterations.add() }
  check(iterations.value == 100, "all iterations ran")
  let global = Latch(50)
  for _ in 0..<50 { DispatchQueue.global().async { global.open() } }
  check(global.wait(), "a global queue runs all")
}

private func useCoordination() {
  let group = DispatchGroup()
  let notified = Latch()
  let permits = DispatchSemaphore(value: 0)
  for _ in 0..<20 { DispatchQueue.global().async(group: group) { permits.signal() } }
  for _ in 0..<20 { permits.wait() }
  group.notify(queue: .global()) { notified.open() }
  group.wait()
  check(notified.wait(), "a group notifies")
  let item = DispatchWorkItem {}
  DispatchQueue.global().async(execute: item)
  item.wait()
}

func useEvents() {
  let later = Latch()
  DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { later.open() }
  check(later.wait(), "work for later runs")
  let ticks = Latch(3)
  let timer = DispatchSource.makeTimerSource()
  timer.setEventHandler { ticks.open() }
  timer.schedule(deadline: .now(), repeating: .milliseconds(1))
  timer.activate()
  check(ticks.wait(), "a timer fires again and again")
  timer.cancel()
  let pipe = DescriptorPair.pipe()
  check(hears(pipe), "a descriptor is reported")
  pipe.closeBoth()
  signal(SIGUSR2, SIG_IGN)
  let came = Latch()
  let source = DispatchSource.makeSignalSource(signal: SIGUSR2)
  source.setEventHandler { came.open() }
  source.activate()
  kill(getpid(), SIGUSR2)
  check(came.wait(), "a signal is reported")
  source.cancel()
}

/// Whether a new source receives what is written.
func hears(_ pipe: DescriptorPair) -> Bool {
  let came = Latch()
  let ended = Latch()
  let source = DispatchSource.makeReadSource(fileDescriptor: pipe.input)
  source.setEventHandler {
    readBytes(pipe.input, atMost: 100)
    came.open()
  }
  source.setCancelHandler { ended.open() }
  source.activate()
  writeBytes(pipe.output, 1)
  let isHeard = came.wait()
  source.cancel()
  return isHeard && ended.wait()
}

func useChannels() {
  let pipe = DescriptorPair.pipe()
  let got = Latch()
  DispatchIO.read(fromFileDescriptor: pipe.input, maxLength: 5, runningHandlerOn: .global()) {
    data, error in
    if data.count == 5 && error == 0 { got.open() }
  }
  writeBytes(pipe.output, 5)
  check(got.wait(), "a channel reads a pipe")
  pipe.closeBoth()
  check(canTransferFile(), "a channel writes and reads a file")
}

func canTransferFile() -> Bool {
  var path = Array("/tmp/grandcentral-fork-XXXXXX".utf8CString)
  let file = mkstemp(&path)
  unlink(path)
  let done = Latch()
  let channel = DispatchIO(type: .random, fileDescriptor: file, queue: .global()) { _ in
    close(file)
    done.open()
  }
  let bytes = Array(0..<UInt8(200))
  let written = Latch()
  bytes.withUnsafeBytes { bytes in
    channel.write(offset: 0, data: DispatchData(bytes: bytes), queue: .global()) {
      isDone, _, error in
      if isDone && error == 0 { written.open() }
    }
  }
  let read = Latch()
  let seen = Box([UInt8]())
  let isWritten = written.wait()
  channel.read(offset: 0, length: 200, queue: .global()) { isDone, data, error in
    seen.value += data.map { Array($0) } ?? []
    if isDone && error == 0 { read.open() }
  }
  let isRead = read.wait()
  channel.close()
  return isWritten && isRead && seen.value == bytes && done.wait()
}
