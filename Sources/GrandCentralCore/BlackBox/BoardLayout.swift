// Room: BlackBox/BoardLayout. Where each word of the board lies. The reader in GrandCentralInside
// compiles against these numbers, and checks those that the header repeats.
//   header         512 words
//   thread records `threads.capacity` of 16 words
//   queue records  `queues.capacity` of 16 words
//   events         see EventLayout
// All words have 64 bits in the order of the machine's bytes. A record's word 0 is its turn: see
// BoardRecord.
// `version` changes if a word moves, or means something else. A word that was 0 may get a meaning
// without that. The words of the header up to `process`, and `release`, never move, so that each
// command can say which other one reads a board (Docs/Inside.md, "Upgrades").

package enum BoardLayout {
  /// "GCBOARD1" as the machine reads it.
  package static var magic: UInt64 { 0x3144_5241_4f42_4347 }
  package static var version: UInt64 { 5 }
  package static var headerBytes: Int { 4096 }
  package static var recordWords: Int { 16 }
  package static var recordBytes: Int { recordWords * 8 }
  package static var threadCapacity: Int { 2048 }
  package static var queueCapacity: Int { 65536 }
  package static var threadsOffset: Int { headerBytes }
  package static var queuesOffset: Int { threadsOffset + threadCapacity * recordBytes }
  package static var bytes: Int { EventLayout.chunksOffset + EventLayout.chunkArea }
  /// How the names of the engine's own threads begin. The monitor, the watch, the thread that
  /// submits to io_uring and the one that receives signals have no record.
  package static var engineThreadPrefixes: [String] {
    ["gc-worker-", "gc-events-", "gc-monitor", "gc-watch", "gc-files", "gc-signals"]
  }
  /// The name of the anonymous file, as /proc shows it.
  package static var fileName: String { "grandcentral" }

  /// The words of the header. `magic` is written last; the rest never changes, except for
  /// `threadsUsed` and `queuesUsed`, which only grow.
  package enum Header {
    package static var magic: Int { 0 }
    package static var version: Int { 1 }
    package static var recordBytes: Int { 2 }
    package static var threadCapacity: Int { 3 }
    package static var queueCapacity: Int { 4 }
    package static var process: Int { 5 }
    /// When the board was made: CLOCK_MONOTONIC and CLOCK_REALTIME.
    package static var made: Int { 6 }
    package static var madeWall: Int { 7 }
    /// The number of thread records that were ever used.
    package static var threadsUsed: Int { 8 }
    /// The width and the thread limit of the pool.
    package static var width: Int { 9 }
    package static var maxThreads: Int { 10 }
    /// The name of the process: two words.
    package static var name: Int { 11 }
    /// The number of the first queue record that was never used; 0: not known.
    package static var queuesUsed: Int { 13 }
    /// The version of the engine, a text of two words.
    package static var release: Int { 14 }
    /// How many notifications of groups are registered and not submitted, as a sum of numbers that
    /// may be negative: the first words of as many lines of the processor's cache. In a forked
    /// child, the sum lacks those that the parent has registered.
    package static var notifications: Int { 128 }
    package static var notificationLines: Int { 8 }
  }

  /// The words of a thread's record.
  package enum Thread {
    /// Thread id in the low half, flags above.
    package static var identity: Int { 1 }
    /// From the lowest byte: activity, band, kind of wait, number of queues held. The high half has
    /// the id of the thread that holds the awaited object. The number has 7 bits; above them is
    /// whether the thread waits to enter a concurrent queue alone.
    package static var activity: Int { 2 }
    package static var heldShift: UInt64 { 24 }
    package static var heldMask: UInt64 { 0x7f }
    package static var waitsForBarrier: UInt64 { 1 << 31 }
    /// When the activity began.
    package static var since: Int { 3 }
    /// The address of the object that the thread waits for.
    package static var object: Int { 4 }
    /// The awaited queue's record in the low half, that of the current queue above.
    package static var queues: Int { 5 }
    /// When the thread began to work on the current queue.
    package static var queueSince: Int { 6 }
    /// The queues that a waiting thread is in, innermost first, two a word.
    package static var held: Int { 7 }
    package static var maxHeld: Int { 8 }
    /// The thread's name when it got the record: two words.
    package static var name: Int { 11 }
    /// How many items of the current queue the thread has begun since `queueSince`, in the low
    /// half; 0: not known. Counted outside any turn, by gc_item_began(). The items of a queue that
    /// threads share are not counted.
    package static var items: Int { 13 }

    package static var isWorker: UInt64 { 1 }
    package static var isMain: UInt64 { 2 }
  }

  /// The words of a queue's record.
  package enum Queue {
    package static var address: Int { 1 }
    /// Kind in the lowest byte, width in the next two, the band of the queue's own QoS above.
    package static var kind: Int { 2 }
    /// The record of the target queue. Words 3 to 5 and 7 are written one by one, outside any turn.
    package static var target: Int { 3 }
    /// When the queue was suspended, or 0; and how many items were submitted since.
    package static var suspendedSince: Int { 4 }
    package static var queuedSuspended: Int { 5 }
    /// The label's length in bytes, and as much of it as fits.
    package static var labelBytes: Int { 6 }
    /// Main queue: when work came that no thread has begun to drain, or 0.
    package static var undrainedSince: Int { 7 }
    package static var label: Int { 8 }
    package static var maxLabelBytes: Int { 64 }
  }
}

/// What a thread does.
package enum BoardActivity: UInt8, Sendable {
  /// No thread has the record.
  case none = 0
  /// A worker without work.
  case idle = 1
  case running = 2
  case waiting = 3
}

/// What a thread waits for.
package enum BoardWaitKind: UInt8, CaseIterable, Sendable {
  case none = 0
  /// To enter a queue, by sync().
  case queue = 1
  case group = 2
  case semaphore = 3
  case workItem = 4
  /// The end of a concurrentPerform.
  case loop = 5
  case once = 6
  /// A system call for a file.
  case file = 7
}
