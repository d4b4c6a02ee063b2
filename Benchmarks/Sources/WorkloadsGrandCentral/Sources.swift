// Sources: the cost of creation, and descriptors that become ready. Each handler makes one system
// call for each read or write, as the loops in WorkloadsLibuv do.

import Glibc
import Metrics

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

let sourceWorkloads: [Workload] = [
  createAndCancel("sources/create-cancel/user-data") {
    let source = DispatchSource.makeUserDataAddSource(queue: $0)
    source.setEventHandler {}
    return source
  }
]

/// Creates, activates, cancels and releases sources. A sample ends after the last cancel handler.
private func createAndCancel(
  _ name: String, _ make: @escaping @Sendable (DispatchQueue) -> any DispatchSourceProtocol
) -> Workload {
  Workload(name, .fixed(10_000)) { count in
    let queue = DispatchQueue(label: "bench.sources")
    let countdown = Countdown(count)
    let time = elapsed {
      for _ in 0..<count {
        let source = make(queue)
        source.setCancelHandler { countdown.arrive() }
        source.activate()
        source.cancel()
      }
      countdown.wait()
    }
    return Sample(time, per: count)
  }
}

#if DESCRIPTOR_SOURCES
  let descriptorWorkloads: [Workload] = [
    createAndCancel("sources/create-cancel/read") {
      let source = DispatchSource.makeReadSource(fileDescriptor: quiet.near, queue: $0)
      source.setEventHandler {}
      return source
    },
    pingPongWithThread,
    pingPongOnOneQueue,
    streaming,
    activePairs,
  ]

  /// A descriptor on which nothing happens.
  private let quiet = SocketPair()

  /// Cancels the sources and waits for their cancel handlers. Only then may the descriptor be
  /// closed.
  private func cancelAndWait(_ sources: [any DispatchSourceProtocol]) {
    let countdown = Countdown(sources.count)
    for source in sources {
      source.setCancelHandler { countdown.arrive() }
      source.cancel()
    }
    countdown.wait()
  }

  private func readSource(
    _ descriptor: Int32, on queue: DispatchQueue?, _ handler: @escaping @Sendable () -> Void
  ) -> any DispatchSourceProtocol {
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler(handler: handler)
    source.activate()
    return source
  }

  private func echo(_ descriptor: Int32) {
    if receiveMessage(from: descriptor) { sendMessage(to: descriptor) }
  }

  // MARK: Ping-pong

  /// A thread blocks in read() at one end, a read source at the other. One operation is a round
  /// trip.
  private let pingPongWithThread = Workload("sources/ping-pong/thread") { count in
    let pair = SocketPair()
    let source = readSource(pair.near, on: DispatchQueue(label: "bench.echo")) { echo(pair.near) }
    let time = PingPongPeer(on: pair.far, count: count).join()
    cancelAndWait([source])
    pair.close()
    return Sample(time, per: count)
  }

  /// Forwards a message a given number of times.
  private final class Rally: @unchecked Sendable {
    let descriptor: Int32
    let ended: Countdown
    /// Used only by the source's handler after the first message is sent.
    @exclusivity(unchecked) var left: Int

    init(on descriptor: Int32, count: Int, ended: Countdown) {
      self.descriptor = descriptor
      self.ended = ended
      left = count
    }

    func serve() { sendMessage(to: descriptor) }

    func answer() {
      guard receiveMessage(from: descriptor) else { return }
      left -= 1
      if left == 0 { ended.arrive() } else { sendMessage(to: descriptor) }
    }
  }

  /// Both ends on one serial queue, as libuv has both on one loop.
  private let pingPongOnOneQueue = Workload("sources/ping-pong/one-queue") { count in
    let pair = SocketPair()
    let queue = DispatchQueue(label: "bench.ping-pong")
    let ended = Countdown(1)
    let rally = Rally(on: pair.far, count: count, ended: ended)
    let sources = [
      readSource(pair.near, on: queue) { echo(pair.near) },
      readSource(pair.far, on: queue) { rally.answer() },
    ]
    let time = elapsed {
      rally.serve()
      ended.wait()
    }
    cancelAndWait(sources)
    pair.close()
    return Sample(time, per: count)
  }

  /// Independent pairs. Their sources target the global queue, so several threads may run them.
  private let activePairs = Workload("sources/1000-pairs", .fixed(20_000)) { count in
    let pairCount = 1_000
    allowDescriptors(2 * pairCount)
    let pairs = (0..<pairCount).map { _ in SocketPair() }
    let ended = Countdown(pairCount)
    let rounds = max(1, count / pairCount)
    let rallies = pairs.map { Rally(on: $0.far, count: rounds, ended: ended) }
    let sources =
      pairs.map { pair in readSource(pair.near, on: nil) { echo(pair.near) } }
      + rallies.map { rally in readSource(rally.descriptor, on: nil) { rally.answer() } }
    let time = elapsed {
      for rally in rallies { rally.serve() }
      ended.wait()
    }
    cancelAndWait(sources)
    for pair in pairs { pair.close() }
    return Sample(time, per: rounds * pairCount)
  }

  // MARK: Streaming

  /// One end of a stream: each transfer requests one chunk from the kernel.
  private final class Stream: @unchecked Sendable {
    private let descriptor: Int32
    private let chunk = UnsafeMutableRawPointer.allocate(byteCount: chunkBytes, alignment: 64)
    @exclusivity(unchecked) private var left: Int

    init(_ descriptor: Int32, bytes: Int) {
      (self.descriptor, left) = (descriptor, bytes)
      chunk.initializeMemory(as: UInt8.self, repeating: 7, count: chunkBytes)
    }

    deinit { chunk.deallocate() }

    /// Transfers up to one chunk. Returns true after the last.
    func transfer(_ call: (Int32, UnsafeMutableRawPointer, Int) -> Int) -> Bool {
      let length = call(descriptor, chunk, min(chunkBytes, left))
      if length < 0 && errno == EAGAIN { return false }
      expect(length > 0, "transferred \(length) bytes: \(errno)")
      left -= length
      return left == 0
    }
  }

  /// A write source fills one end, a read source empties the other, each on its own queue. One
  /// operation is one chunk.
  private let streaming = Workload(
    "sources/stream", rows: [Workload.Row("sources/stream", unit: "ns/64KiB")], .fixed(4_096),
    .shared
  ) { count in
    let pair = SocketPair()
    let input = Stream(pair.far, bytes: count * chunkBytes)
    let output = Stream(pair.near, bytes: count * chunkBytes)
    let received = Countdown(1)
    let written = Countdown(1)
    let reader = readSource(pair.far, on: DispatchQueue(label: "bench.reader")) {
      if input.transfer(read) { received.arrive() }
    }
    let writer = DispatchSource.makeWriteSource(
      fileDescriptor: pair.near, queue: DispatchQueue(label: "bench.writer"))
    writer.setEventHandler {
      // The descriptor stays writable for ever, so the source must be cancelled.
      if output.transfer({ write($0, $1, $2) }) { writer.cancel() }
    }
    writer.setCancelHandler { written.arrive() }
    let time = elapsed {
      writer.activate()
      received.wait()
    }
    written.wait()
    cancelAndWait([reader])
    pair.close()
    return Sample(time, per: count)
  }
#else
  let descriptorWorkloads: [Workload] = []
#endif
