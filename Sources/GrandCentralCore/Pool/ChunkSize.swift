// Room: Pool/ChunkSize. How many nodes a searcher takes at once, from an injector or from another
// worker's queue. Taking several costs little more than taking one. But the items of a concurrent
// queue start in order, and what lies in one worker's queue begins after what another worker took
// later. So a chunk should last for `nanoseconds` at most, judged by the nodes that the worker has
// run since the last one. Items of 50 µs are taken singly, and begin in order; empty ones 64 at a
// time. Where the worker waits for a CPU meanwhile, or its items sleep, chunks are smaller, too.
// A part of an injector's chunk is taken with its lock held, 0.3 µs for each node, and that bounds
// all workers together. So where there are many CPUs, items of a few microseconds come in whole
// chunks, whose order is that of submission to within a chunk for each worker.

struct ChunkSize {
  static var most: Int { 64 }
  /// How long a chunk should last at most.
  static var nanoseconds: UInt64 { 20_000 }
  /// Nodes that take less come in chunks of any size: for each CPU beyond the second.
  static var shortNanoseconds: UInt64 { 3_000 }
  private static var first: Int { scaled(1, inModels: 64) }
  private static var afterSleep: Int { scaled(2, inModels: 64) }

  /// The number of nodes in the last chunk, or more, if larger ones came before.
  private var size: Int
  /// When that was taken, by the monotonic clock, and the worker's pick then; 0: not since the
  /// worker last slept.
  private var taken: UInt64 = 0
  private var pick: UInt32 = 0
  /// Whether, at the last chunk, nodes took so little that it might be of any size.
  private(set) var areNodesShort = false

  init(_ size: Int = first) { self.size = size }

  /// The number of nodes to take at `now`: at most twice as many as the last time.
  mutating func next(at now: UInt64, pick: UInt32, width: Int) -> Int {
    areNodesShort = false
    guard taken != 0 else { return size }
    let grown = min(2 * size, Self.most)
    // A pick that found nothing counts as a node.
    let nodeNanoseconds = (now &- taken) / UInt64(max(1, pick &- self.pick))
    areNodesShort = nodeNanoseconds < UInt64(max(0, width - 2)) * Self.shortNanoseconds
    if areNodesShort { return grown }
    return max(1, min(grown, Int(Self.nanoseconds / max(1, nodeNanoseconds))))
  }

  /// Notes that a chunk was taken: `count` nodes of `most`. Few nodes are no reason for a smaller
  /// next chunk, nor for a larger one.
  mutating func took(_ count: Int, of most: Int, at now: UInt64, pick: UInt32) {
    (size, taken, self.pick) = (max(count, (most + 1) / 2), now, pick)
  }

  /// Notes that the worker has slept without work.
  mutating func slept() {
    size = min(size, Self.afterSleep)
    taken = 0
  }
}
