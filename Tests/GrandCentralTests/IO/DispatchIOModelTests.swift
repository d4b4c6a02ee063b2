// Channels compared with models that know each byte. Peers transfer pieces of odd sizes through
// small buffers and hang up; reads and writes of a file share its position.
// Shows contract row I2.
import Glibc
import GrandCentral
import TestSupport
import Testing

@Suite("Channels against a model", .serialized) struct DispatchIOModelTests {
  enum Way: CaseIterable {
    case pipe, sockets

    /// Small buffers, so that a transfer moves less than was requested.
    var ends: DescriptorPair {
      let ends = self == .pipe ? DescriptorPair.pipe() : .sockets()
      var bytes: Int32 = 1
      // F_SETPIPE_SZ, fcntl(2): the minimum is one page.
      _ = fcntl(ends.output, 1031, 1)
      for (end, option) in [(ends.output, SO_SNDBUF), (ends.input, SO_RCVBUF)] {
        setsockopt(end, SOL_SOCKET, option, &bytes, socklen_t(MemoryLayout<Int32>.size))
      }
      return ends
    }
  }

  // MARK: A channel that writes

  @Test(arguments: Way.allCases)
  func `write every byte to a peer that takes odd pieces, stops or hangs up`(way: Way) {
    var random = SeededGenerator(for: "a channel writes to \(way)")
    for _ in 0..<stressed(25) { write(way, &random) }
  }

  private func write(_ way: Way, _ random: inout SeededGenerator) {
    let ends = way.ends
    let channel = TestChannel(ends.output)
    limit(channel, &random)
    let sent = (0..<Int.random(in: 1...8, using: &random)).map { index in
      pattern(.random(in: 0...20_000, using: &random), from: index * 7)
    }
    let hangsUp = Int.random(in: 0..<4, using: &random) == 0
    let most = hangsUp ? Int.random(in: 0...30_000, using: &random) : .max
    let peer = OddPeer(ends.input, random.split())
    let taking = TestThread { peer.take(atMost: most) }
    let results = sent.map { bytes in
      let result = IOResult()
      channel.io.write(
        offset: 0, data: pieces(of: bytes, &random), queue: .global(), ioHandler: result.handler)
      return result
    }
    let stops = Int.random(in: 0..<3, using: &random) == 0
    for _ in 0..<Int.random(in: 0...500, using: &random) { sched_yield() }
    #expect(channel.end(stops ? .stop : []))
    close(ends.output)
    #expect(taking.join())

    var went: [UInt8] = []
    for (bytes, result) in zip(sent, results) {
      #expect(result.wait())
      let left = Array(result.last ?? .empty)
      #expect(left == Array(bytes.suffix(left.count)))
      #expect(result.error != 0 || left.isEmpty)
      let possible = [0] + (stops ? [ECANCELED] : []) + (hangsUp ? [EPIPE, ECONNRESET] : [])
      #expect(possible.contains(result.error))
      went += bytes.dropLast(left.count)
    }
    // A peer that hangs up may leave bytes in the buffer.
    #expect(hangsUp ? went.starts(with: peer.taken) : went == peer.taken)
    if peer.taken.count < most { close(ends.input) }
  }

  // MARK: A channel that reads

  @Test(arguments: Way.allCases)
  func `read every byte of a peer that gives odd pieces, and leave the rest`(way: Way) {
    var random = SeededGenerator(for: "a channel reads from \(way)")
    for _ in 0..<stressed(25) { read(way, &random) }
  }

  private func read(_ way: Way, _ random: inout SeededGenerator) {
    let ends = way.ends
    let channel = TestChannel(ends.input)
    limit(channel, &random)
    let sent = pattern(.random(in: 0...80_000, using: &random))
    let lengths = (0..<Int.random(in: 1...8, using: &random)).map { _ in
      Int.random(in: 0...20_000, using: &random)
    }
    let peer = OddPeer(ends.output, random.split())
    let giving = TestThread { peer.give(sent) }
    let results = lengths.map { channel.io.read($0, on: .global()) }
    let stops = Int.random(in: 0..<3, using: &random) == 0
    for _ in 0..<Int.random(in: 0...500, using: &random) { sched_yield() }
    #expect(channel.end(stops ? .stop : []))
    // Only this thread and the peer use the connection now. Reading the rest lets the peer finish.
    let rest = OddPeer(ends.input, random.split())
    rest.take(atMost: .max)
    close(ends.input)
    #expect(giving.join())

    var place = 0
    for (length, result) in zip(lengths, results) {
      #expect(result.wait())
      let bytes = result.all
      #expect(bytes == Array(sent[place...].prefix(bytes.count)))
      let isWhole = bytes.count == min(length, sent.count - place)
      #expect(result.error == 0 ? isWhole : stops && result.error == ECANCELED)
      place += bytes.count
    }
    #expect(rest.taken == Array(sent[place...]))
  }

  // MARK: A channel of a file

  @Test func `move the position of a file by what they read and wrote`() {
    var random = SeededGenerator(for: "a stream over a file")
    let folder = ScratchFolder()
    for round in 0..<stressed(25) { moveAlong(folder.file("\(round)"), &random) }
  }

  private enum Step {
    case read(Int, IOResult)
    case write([UInt8], IOResult)
  }

  private func moveAlong(_ file: Int32, _ random: inout SeededGenerator) {
    var model = pattern(.random(in: 0...50_000, using: &random))
    fill(file, model)
    var place = Int.random(in: 0...60_000, using: &random)
    lseek(file, off_t(place), SEEK_SET)
    let channels = [TestChannel(file), TestChannel(file)]
    var steps: [Step] = []
    for index in 0..<Int.random(in: 1...20, using: &random) {
      let channel = channels[index % 2]
      limit(channel, &random)
      let count = Int.random(in: 0...20_000, using: &random)
      if Bool.random(using: &random) {
        steps.append(.read(count, channel.io.read(count, on: .global())))
      } else {
        let bytes = pattern(count, from: index * 11)
        let result = IOResult()
        channel.io.write(
          offset: 0, data: pieces(of: bytes, &random), queue: .global(), ioHandler: result.handler)
        steps.append(.write(bytes, result))
      }
    }
    let stops = Bool.random(using: &random)
    for _ in 0..<Int.random(in: 0...300, using: &random) { sched_yield() }
    for channel in channels { channel.io.close(flags: stops ? .stop : []) }
    for channel in channels { #expect(channel.end()) }

    for step in steps {
      switch step {
      case .read(let count, let result):
        #expect(result.wait())
        let expected = place < model.count ? Array(model[place...].prefix(count)) : []
        let bytes = result.all
        #expect(bytes == Array(expected.prefix(bytes.count)))
        #expect(result.error == 0 ? bytes == expected : stops && result.error == ECANCELED)
        place += bytes.count
      case .write(let bytes, let result):
        #expect(result.wait())
        let left = Array(result.last ?? .empty)
        #expect(left == Array(bytes.suffix(left.count)))
        #expect(result.error == 0 ? left.isEmpty : stops && result.error == ECANCELED)
        let went = bytes.dropLast(left.count)
        if went.isEmpty { continue }
        model += [UInt8](repeating: 0, count: max(0, place + went.count - model.count))
        model.replaceSubrange(place..<place + went.count, with: went)
        place += went.count
      }
    }
    #expect(content(file, model.count + 1) == model)
    #expect(lseek(file, 0, SEEK_CUR) == place)
    close(file)
  }

  // MARK: What they share

  private func limit(_ channel: TestChannel, _ random: inout SeededGenerator) {
    channel.io.setLimit(highWater: .random(in: 1...30_000, using: &random))
    if Bool.random(using: &random) {
      channel.io.setLimit(lowWater: .random(in: 1...5000, using: &random))
    }
  }

  /// Data whose regions have odd sizes.
  private func pieces(of bytes: [UInt8], _ random: inout SeededGenerator) -> DispatchData {
    var data = DispatchData.empty
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(.random(in: 1...3001, using: &random))
      data.append(DispatchData(client: Array(piece)))
      rest = rest.dropFirst(piece.count)
    }
    return data
  }
}

/// The other end of a connection. It uses plain system calls of odd sizes. Read its results after
/// joining its thread.
private final class OddPeer: @unchecked Sendable {
  private let descriptor: Int32
  private var random: SeededGenerator
  private(set) var taken: [UInt8] = []

  init(_ descriptor: Int32, _ random: SeededGenerator) {
    self.descriptor = descriptor
    self.random = random
  }

  /// Reads up to the end, or until it has `most` bytes and hangs up.
  func take(atMost most: Int) {
    _ = fcntl(descriptor, F_SETFL, 0)
    var buffer = [UInt8](repeating: 0, count: 5000)
    while taken.count < most {
      let wanted = min(Int.random(in: 1...buffer.count, using: &random), most - taken.count)
      let count = read(descriptor, &buffer, wanted)
      if count < 0 && errno == EINTR { continue }
      if count <= 0 { return }
      taken += buffer.prefix(count)
      if Int.random(in: 0..<8, using: &random) == 0 { sched_yield() }
    }
    close(descriptor)
  }

  /// Writes all of `bytes`, and hangs up.
  func give(_ bytes: [UInt8]) {
    _ = fcntl(descriptor, F_SETFL, 0)
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(.random(in: 1...5000, using: &random)))
      let count = write(descriptor, piece, piece.count)
      if count < 0 && errno == EINTR { continue }
      if count <= 0 { break }
      rest = rest.dropFirst(count)
    }
    close(descriptor)
  }
}
