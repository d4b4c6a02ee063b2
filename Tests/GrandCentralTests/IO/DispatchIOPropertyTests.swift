// Random operations on channels: contract row I2.
import Glibc
import GrandCentral
import TestSupport
import Testing

@Suite("Channels, at random", .serialized) struct DispatchIOPropertyTests {
  enum Way: CaseIterable { case pipe, sockets }

  @Test(arguments: Way.allCases)
  func `carry every byte once and in order, whatever is stopped`(way: Way) {
    var random = SeededGenerator(for: "channels over \(way)")
    for _ in 0..<stressed(30) { carry(way, &random) }
  }

  /// Moves bytes through two channels at each end, with writes and reads of random sizes. Either
  /// side may be stopped at a random point.
  private func carry(_ way: Way, _ random: inout SeededGenerator) {
    let ends = way == .pipe ? DescriptorPair.pipe() : .sockets()
    let queues = [DispatchQueue.global(), DispatchQueue(label: "property")]
    let writers = [TestChannel(ends.output), TestChannel(ends.output)]
    let readers = [TestChannel(ends.input), TestChannel(ends.input)]
    for channel in writers + readers {
      channel.io.setLimit(highWater: .random(in: 1...200_000, using: &random))
      if Bool.random(using: &random) {
        channel.io.setLimit(lowWater: .random(in: 1...9999, using: &random))
      }
    }
    var sent: [[UInt8]] = []
    var writes: [IOResult] = []
    var reads: [IOResult] = []
    for index in 0..<Int.random(in: 1...12, using: &random) {
      let bytes = pattern(.random(in: 0...90_000, using: &random), from: index * 7)
      sent.append(bytes)
      writes.append(writers[index % 2].io.write(bytes, on: queues[index / 2 % 2]))
      reads.append(
        readers[index % 2].io.read(
          .random(in: 0...90_000, using: &random), on: queues[index / 2 % 2]))
    }
    let stopsWriters = Bool.random(using: &random)
    for _ in 0..<Int.random(in: 0...2000, using: &random) { sched_yield() }
    if stopsWriters { for writer in writers { writer.io.close(flags: .stop) } }
    for reader in readers { reader.io.close(flags: Bool.random(using: &random) ? .stop : []) }
    // Readers that are not stopped receive the end of the stream.
    var rest: [UInt8] = []
    drain(ends, writers, readers, into: &rest)
    #expect(writes.allSatisfy { $0.wait() } && reads.allSatisfy { $0.wait() })

    var went: [UInt8] = []
    for (bytes, result) in zip(sent, writes) {
      let left = Array(result.last ?? .empty)
      #expect(result.error != 0 || left.isEmpty)
      #expect(left == Array(bytes.suffix(left.count)))
      went += bytes.prefix(bytes.count - left.count)
    }
    // The operations return consecutive bytes in the order of submission; the unread bytes follow.
    #expect(reads.flatMap(\.all) + rest == went)
    close(ends.input)
  }

  /// Ends the writers and closes their descriptor, then ends the readers and reads the remaining
  /// bytes.
  private func drain(
    _ ends: DescriptorPair, _ writers: [TestChannel], _ readers: [TestChannel],
    into rest: inout [UInt8]
  ) {
    for writer in writers { writer.io.close() }
    var buffer = [UInt8](repeating: 0, count: 65536)
    var readersAreGone = false
    let isOver = eventually {
      readersAreGone = readersAreGone || readers.allSatisfy { $0.cleanups.count == 1 }
      // While a channel uses the descriptor, no other code reads from it.
      if readersAreGone, case let count = read(ends.input, &buffer, buffer.count), count > 0 {
        rest += buffer.prefix(count)
      }
      return writers.allSatisfy { $0.cleanups.count == 1 }
    }
    #expect(isOver)
    close(ends.output)
    #expect(readers.allSatisfy { $0.cleanups.waitForCount(1) })
    while case let count = read(ends.input, &buffer, buffer.count), count > 0 {
      rest += buffer.prefix(count)
    }
  }

  @Test func `agree with a file in memory, reading and writing anywhere`() {
    var random = SeededGenerator(for: "random access")
    let folder = ScratchFolder()
    for round in 0..<stressed(20) {
      let file = folder.file("\(round)")
      let channel = TestChannel(file, .random)
      var model: [UInt8] = []
      var reads: [(result: IOResult, expected: [UInt8])] = []
      for step in 0..<40 {
        let place = Int.random(in: 0...50_000, using: &random)
        let count = Int.random(in: 0...30_000, using: &random)
        channel.io.setLimit(highWater: .random(in: 1...40_000, using: &random))
        if Bool.random(using: &random) {
          let bytes = pattern(count, from: step)
          let upTo = count == 0 ? model.count : max(model.count, place + count)
          model += [UInt8](repeating: 0, count: upTo - model.count)
          model.replaceSubrange(place..<place + count, with: bytes)
          _ = channel.io.write(bytes, at: off_t(place), on: .global())
        } else {
          let expected = place < model.count ? Array(model[place...].prefix(count)) : []
          reads.append((channel.io.read(count, at: off_t(place), on: .global()), expected))
        }
        // Without a barrier the operations could overtake each other.
        channel.io.barrier {}
      }
      for read in reads {
        #expect(read.result.wait())
        #expect(read.result.all == read.expected)
      }
      #expect(channel.end())
      #expect(content(file, 100_000) == model)
      close(file)
    }
  }

  @Test func `leave nothing behind`() async {
    // In a process of its own, where no other code opens descriptors.
    _ = await #expect(processExitsWith: .success) {
      let folder = ScratchFolder()
      fill(folder.file("a"), pattern(1000))
      listenOnce()
      try useAndLeave(100, folder["a"])
      let before = openDescriptors()
      try useAndLeave(stressed(10_000), folder["a"])
      // The pool opens /proc from time to time, and the other libraries of the process open a few
      // descriptors on first use.
      let fewOnce = 10
      #expect(eventually { openDescriptors() <= before + fewOnce })
    }
  }
}

/// Makes the engine open the descriptors of its poller.
private func listenOnce() {
  let ends = DescriptorPair.pipe()
  let (heard, ended) = (Latch(), Latch())
  let source = DispatchSource.makeReadSource(fileDescriptor: ends.input)
  source.setEventHandler { heard.open() }
  source.setCancelHandler { ended.open() }
  source.activate()
  writeBytes(ends.output, 1)
  #expect(heard.wait())
  source.cancel()
  #expect(ended.wait())
  ends.closeBoth()
}

/// Makes `count` channels, a hundred at a time, and checks that they release all they held.
private func useAndLeave(_ count: Int, _ path: String) throws {
  let gone = Counter()
  let queue = DispatchQueue(label: "leave nothing")
  for batch in 0..<(count / 100) {
    let done = Latch(100)
    for index in 0..<100 {
      let witness = Witness { gone.add() }
      try useAndLeave(batch + index, path, queue, done, witness)
    }
    #expect(done.wait())
  }
  #expect(gone.waitForValue(count / 100 * 100))
}

/// Makes a channel, whose kind depends on `index`, uses it, and releases it.
private func useAndLeave(
  _ index: Int, _ path: String, _ queue: DispatchQueue, _ done: Latch, _ witness: Witness
) throws {
  if index % 2 == 0 {
    let io = DispatchIO(
      type: .random, path: path, oflag: O_RDONLY, mode: 0, queue: queue
    ) { _ in
      withExtendedLifetime(witness) { done.open() }
    }
    try #require(io).read(offset: 3, length: 10, queue: queue) { _, _, _ in _ = witness }
  } else {
    let ends = DescriptorPair.pipe()
    let io = DispatchIO(type: .stream, fileDescriptor: ends.input, queue: queue) { _ in
      ends.closeBoth()
      done.open()
    }
    io.read(offset: 0, length: 10, queue: queue) { _, _, _ in _ = witness }
    if index % 4 == 1 { writeBytes(ends.output, 10) } else { io.close(flags: .stop) }
  }
}
