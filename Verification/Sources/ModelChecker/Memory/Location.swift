// Room: ModelChecker/Location. One atomic word of the checked program: every value stored in it
// during this execution, and the threads that have seen each value. Weak memory follows the
// operational models of C11 without load buffering. Stores to a word are ordered as they were
// executed. A load may return any of them that is not older than a store known to the loading
// thread:
//   known by coherence   the thread read or wrote it, or a step that happens before this load did
//   known by the order   a sequentially consistent load knows every sequentially consistent store
//                        before it
// A store carries a message: the clock of a releasing store, continued by the read-modify-writes
// that follow it. An acquiring load joins the message.

/// A value that a location held.
struct Store {
  var value: UInt64
  /// For each thread, the time at which it first read or wrote this store.
  var seen: VectorClock
  /// The clock that an acquiring load of this store joins.
  var message: VectorClock
  var isSequential: Bool
}

/// The last steps that touched a resource, as indices of the schedule: they determine which other
/// steps depend on them.
struct Footprint {
  static let none: Int32 = -1

  var lastWrite = Self.none
  /// Each thread's last read since that write.
  var reads = SIMD8<Int32>(repeating: Self.none)
}

public struct Location {
  /// The execution for which the other fields are valid. A location that is older than the
  /// execution, such as a global, restarts in each execution with its first value.
  var execution: UInt64 = 0
  var initial: UInt64 = 0
  var isAlive = true
  /// The site, thread and time of its creation. Creation is not an atomic operation, so all
  /// operations must come after it.
  var site = Site.none
  var maker: UInt8 = 0
  var madeAt: UInt16 = 0
  /// Its number in reports, by order of first use.
  var number: Int32 = 0

  var stores: UnsafeMutablePointer<Store>
  var count = 0
  var capacity: Int

  var value = Footprint()
  /// The kernel's queue of sleepers on this word. A separate resource: a wake-up does not touch the
  /// value.
  var sleepers = Footprint()

  init() {
    capacity = 16
    stores = .allocate(capacity: capacity)
  }

  var latest: UInt64 { stores[count - 1].value }

  mutating func begin(in execution: UInt64, value: UInt64) {
    self.execution = execution
    count = 0
    self.value = Footprint()
    sleepers = Footprint()
    number = 0
    // Every thread has seen it from the start: a thread that knows the word's address knows its
    // first value. But creating an atomic releases nothing; the hand-off of its address must
    // release.
    append(Store(value: value, seen: .zero, message: .zero, isSequential: false))
  }

  mutating func append(_ store: Store) {
    if count == capacity {
      let more = UnsafeMutablePointer<Store>.allocate(capacity: capacity * 2)
      more.update(from: stores, count: count)
      stores.deallocate()
      stores = more
      capacity *= 2
    }
    stores[count] = store
    count += 1
  }

  /// The oldest store that a thread with this clock may still read.
  @inline(__always)
  func oldestReadable(by clock: VectorClock, isSequential: Bool) -> Int {
    var index = count - 1
    while index > 0 {
      if clock.reachesAny(of: stores[index].seen) { break }
      if isSequential && stores[index].isSequential { break }
      index -= 1
    }
    return index
  }
}

/// A position in the source.
public struct Site: Sendable {
  public let file: StaticString
  public let line: UInt32

  @inlinable
  public init(_ file: StaticString, _ line: UInt32) {
    self.file = file
    self.line = line
  }

  static let none = Site("", 0)
}
