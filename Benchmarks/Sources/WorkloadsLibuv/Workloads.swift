// The workloads that libuv supports too, under their names in WorkloadsGrandCentral. The loop's
// part is C, in CLibuv; sockets, peers and schedules are those of the other engines.

import CLibuv
import Metrics

public func allWorkloads() -> [Workload] {
  [
    pingPongWithThread,
    Workload("sources/ping-pong/one-queue") { count in
      Sample(rallies(pairs: 1, rounds: count), per: count)
    },
    Workload("sources/1000-pairs", .fixed(20_000)) { count in
      let rounds = max(1, count / 1_000)
      return Sample(rallies(pairs: 1_000, rounds: rounds), per: rounds * 1_000)
    },
    streaming,
    armAndCancel("timers/100k/in-order", shuffled: false),
    armAndCancel("timers/100k/shuffled", shuffled: true),
    Workload("timers/re-arm") { count in
      Sample(libuv_rearm(Int64(count), farTimeouts(256), 256), per: count)
    },
    lateness,
  ]
}

/// Creates the peer when the loop is ready.
private final class Start {
  let descriptor: Int32
  let count: Int
  var peer: PingPongPeer?

  init(_ descriptor: Int32, count: Int) { (self.descriptor, self.count) = (descriptor, count) }
}

private let pingPongWithThread = Workload("sources/ping-pong/thread") { count in
  let pair = SocketPair()
  let start = Start(pair.far, count: count)
  libuv_echo(
    pair.near, Int32(count), Int32(messageBytes),
    { context in
      guard let context else { return }
      // SAFETY: `start` outlives the call.
      let start = Unmanaged<Start>.fromOpaque(context).takeUnretainedValue()
      start.peer = PingPongPeer(on: start.descriptor, count: start.count)
    }, Unmanaged.passUnretained(start).toOpaque())
  let time = withExtendedLifetime(start) { start.peer?.join() ?? 0 }
  pair.close()
  return Sample(time, per: count)
}

private func rallies(pairs count: Int, rounds: Int) -> UInt64 {
  allowDescriptors(2 * count)
  let pairs = (0..<count).map { _ in SocketPair() }
  let ends = pairs.flatMap { [$0.near, $0.far] }
  let time = libuv_rallies(ends, Int32(count), Int32(rounds), Int32(messageBytes))
  for pair in pairs { pair.close() }
  return time
}

private let streaming = Workload(
  "sources/stream", rows: [Workload.Row("sources/stream", unit: "ns/64KiB")], .fixed(4_096), .shared
) { count in
  let pair = SocketPair()
  let time = libuv_stream(pair.near, pair.far, Int32(count), Int32(chunkBytes))
  pair.close()
  return Sample(time, per: count)
}

private func armAndCancel(_ name: String, shuffled: Bool) -> Workload {
  let rows = [name, "\(name)/arm", "\(name)/cancel"].map { Workload.Row($0) }
  return Workload(name, rows: rows, .exact(100_000), .shared) { count in
    let order = order(of: count, shuffled: shuffled).map { Int64($0) }
    var (arm, cancel): (UInt64, UInt64) = (0, 0)
    libuv_arm_and_cancel(Int32(count), farTimeouts(count), order, &arm, &cancel)
    let times = [arm + cancel, arm, cancel]
    return Sample(arm + cancel, figures: times.map { Double($0) / Double(count) })
  }
}

private let lateness = Workload(
  "timers/1ms",
  rows: [Workload.Row("timers/1ms/late/median"), Workload.Row("timers/1ms/late/p99")],
  .fixed(400), .shared
) { count in
  var delays = [Double](repeating: 0, count: count)
  let time = libuv_lateness(Int32(count), &delays)
  let delay = Distribution(delays)
  return Sample(time, figures: [delay.median, delay.quantile(0.99)])
}
