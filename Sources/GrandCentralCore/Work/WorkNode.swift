// Room: Work/WorkNode. An entry of a list of work: 64 bytes, 64-aligned, from the thread's cache.
//    0 next      the next node of the list that this one is on
//    8 entry     the C function that runs the node, so that no list needs to know what it carries
//   16 closure   the client's closure, two words; moved in and moved out, never copied. A node
//                without one has a function that reads how urgently it is awaited
//   32 context   for the entry: a lane to drain, a work item to perform, a thread to wake …
//   40 companion a group to leave when the work is done
//   48 carrier   the concurrent lane whose running count this node holds
//   56 traits    flags and QoS
// Owner: the one list it is on, then the one thread that runs it. The entry empties the node,
// returns it to the cache and only then calls out, so the client's submissions reuse warm memory.
// A pointer with offsets, not a struct behind one: a node must never be read or written as a whole.
public import CGrandCentralLinux

@usableFromInline
struct WorkNode: Equatable {
  @usableFromInline let raw: UnsafeMutableRawPointer

  @inlinable @inline(__always)
  init(_ raw: UnsafeMutableRawPointer) { self.raw = raw }

  /// Runs a node on the calling thread. Consumes it.
  @usableFromInline
  typealias Entry =
    @convention(c) (UnsafeMutableRawPointer, UnsafeMutablePointer<gc_thread>) ->
    Void

  @usableFromInline static let bytes = 64
}

// Each access names the whole node to the checker: a node has one owner at a time.
extension WorkNode {
  @inlinable @inline(__always)
  func load<Field>(_ offset: Int, as type: Field.Type) -> Field {
    willRead(raw)
    return raw.load(fromByteOffset: offset, as: type)
  }

  @inlinable @inline(__always)
  func store<Field: BitwiseCopyable>(_ value: Field, _ offset: Int) {
    willWrite(raw)
    raw.storeBytes(of: value, toByteOffset: offset, as: Field.self)
  }

  @inlinable @inline(__always)
  var next: WorkNode? {
    get { load(0, as: UnsafeMutableRawPointer?.self).map(WorkNode.init) }
    nonmutating set { store(newValue?.raw, 0) }
  }

  @inlinable @inline(__always)
  var entry: Entry {
    get { load(8, as: Entry.self) }
    nonmutating set { store(newValue, 8) }
  }

  @inlinable @inline(__always)
  var context: UnsafeMutableRawPointer? {
    get { load(32, as: UnsafeMutableRawPointer?.self) }
    nonmutating set { store(newValue, 32) }
  }

  @inlinable @inline(__always)
  var companion: UnsafeMutableRawPointer? {
    get { load(40, as: UnsafeMutableRawPointer?.self) }
    nonmutating set { store(newValue, 40) }
  }

  @inlinable @inline(__always)
  var carrier: UnsafeMutableRawPointer? {
    get { load(48, as: UnsafeMutableRawPointer?.self) }
    nonmutating set { store(newValue, 48) }
  }

  @inlinable @inline(__always)
  var traits: WorkTraits {
    get { WorkTraits(rawValue: load(56, as: UInt64.self)) }
    nonmutating set { store(newValue.rawValue, 56) }
  }

  /// Reads from the node's context how urgently the node is awaited, as a raw band. Stored in place
  /// of the closure, which such a node does not have.
  typealias UrgencyReader = @convention(c) (UnsafeMutableRawPointer) -> UInt8
  var urgencyReader: UrgencyReader {
    get { load(16, as: UrgencyReader.self) }
    nonmutating set { store(newValue, 16) }
  }

  /// The highest band that waits for the node; unspecified if none does, or if it is unknown.
  var awaitedBand: Band {
    guard traits.contains(.awaited), let context else { return .unspecified }
    return Band(rawValue: urgencyReader(context)) ?? .unspecified
  }

  /// Moves the client's closure in.
  @inlinable @inline(__always)
  func putClosure(_ work: consuming @escaping () -> Void) {
    willWrite(raw)
    (raw + 16).initializeMemory(as: HeldClosure.self, to: HeldClosure(work: work))
  }

  /// Moves a Sendable closure in. Converted to another type it would be a copy to the compiler,
  /// which retains and releases.
  @inlinable @inline(__always)
  func putSendableClosure(_ work: consuming @escaping @Sendable () -> Void) {
    willWrite(raw)
    // SAFETY: read as a HeldClosure, whose layout is the same: the two types of function differ for
    // the compiler's checks only.
    (raw + 16).initializeMemory(as: HeldSendableClosure.self, to: HeldSendableClosure(work: work))
  }

  /// Moves the client's closure out.
  @inlinable @inline(__always)
  func takeClosure() -> () -> Void {
    willWrite(raw)
    return (raw + 16).assumingMemoryBound(to: HeldClosure.self).move().work
  }

  /// Runs the node. Consumes it.
  func run(on thread: ThreadContext) {
    if traits.contains(.carried), let carrier {
      // SAFETY: the carrier retains itself while it counts this node.
      Unmanaged<DispatchObject>.fromOpaque(carrier)._withUnsafeGuaranteedRef {
        $0.runCarried(self, on: thread)
      }
    } else {
      entry(raw, thread)
    }
  }
}

/// A closure as a field. Memory functions are generic, and a bare closure passed to a generic is
/// wrapped in a thunk with an allocation of its own.
@usableFromInline
struct HeldClosure {
  @usableFromInline let work: () -> Void
  @inlinable @inline(__always)
  init(work: consuming @escaping () -> Void) { self.work = work }

  /// The address of the closure's code.
  var code: UInt {
    // SAFETY: as below.
    unsafeBitCast(self, to: (code: UInt, context: UInt).self).code
  }

  /// Whether the closure has captured anything.
  var hasContext: Bool {
    // SAFETY: a Swift function value is a code address and a reference to its captures, or zero.
    unsafeBitCast(self, to: (code: UInt, context: UInt).self).context != 0
  }
}

/// A Sendable closure as a field.
@usableFromInline
struct HeldSendableClosure {
  @usableFromInline let work: @Sendable () -> Void
  @inlinable @inline(__always)
  init(work: consuming @escaping @Sendable () -> Void) { self.work = work }
}

/// The properties of a node that a lane and the pool use without running it.
///   0 barrier │ 1 waiter: a thread in sync() waits for its turn
///   3 lane: an activation, by which a lane asks to be drained
///   4 awaited: the node has a function that reads how urgently it is awaited; see `urgencyReader`
///   5 overcommit: an item of a global queue whose items each get a thread, as lanes do
///   6 wrapper: stands for another node, which has a carrier of its own
///   10…8 in a node that a lane's owner has taken: the highest band at or behind it, 0 if its own
///   24 carried: a lane counts this node as running, and its address is in `carrier`
///   25 sampled: a recording shows the item, though it does not show all
///   31…24 the byte of these two, which are rare: see runInLane()
///   63…32 QoS, packed
@usableFromInline
struct WorkTraits: OptionSet, Sendable {
  @usableFromInline let rawValue: UInt64
  @inlinable init(rawValue: UInt64) { self.rawValue = rawValue }

  @usableFromInline static let barrier = WorkTraits(rawValue: 1)
  static let waiter = WorkTraits(rawValue: 2)
  static let carried = WorkTraits(rawValue: 1 << 24)
  static let lane = WorkTraits(rawValue: 8)
  static let awaited = WorkTraits(rawValue: 16)
  static let overcommit = WorkTraits(rawValue: 32)
  static let wrapper = WorkTraits(rawValue: 64)
  static let sampled = WorkTraits(rawValue: 1 << 25)

  @inlinable @inline(__always)
  init(qos: PackedQoS, barrier: Bool = false) {
    rawValue = UInt64(qos.rawValue) << 32 | (barrier ? 1 : 0)
  }
  @inlinable @inline(__always)
  var qos: PackedQoS { PackedQoS(rawValue: UInt32(truncatingIfNeeded: rawValue >> 32)) }

  /// Not 0 if a lane counts the node, or a recording shows it as a sample.
  var rareByte: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 24) }

  /// A raw band; unspecified if the node itself is the most urgent.
  var bandBehind: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 8 & 7) }
  func withBandBehind(_ band: Band) -> WorkTraits {
    WorkTraits(rawValue: rawValue & ~(7 << 8) | UInt64(band.rawValue) << 8)
  }
}

// MARK: Lists

extension WorkNode {
  /// Reverses the list that begins here, and returns its new first node.
  @inline(__always)
  func turnedRound() -> WorkNode {
    turnedRoundAndCounted().first
  }

  /// Reverses the list, and returns its new first node and the number of nodes.
  @inline(__always)
  func turnedRoundAndCounted() -> (first: WorkNode, count: UInt32) {
    var first = self
    var rest = next
    var count: UInt32 = 1
    next = nil
    while let node = rest {
      fetchForWriting(node.raw)
      rest = node.next
      node.next = first
      first = node
      count &+= 1
    }
    return (first, count)
  }
}

// MARK: C functions

// A node with a function and its context in place of a closure allocates, retains and releases
// nothing.
extension WorkNode {
  /// Makes a node that calls `function` once. Its QoS is inferred from `thread`, the submitter.
  @inline(__always)
  static func function(
    _ function: @escaping WorkFunction, _ context: UnsafeMutableRawPointer?,
    on thread: ThreadContext
  ) -> WorkNode {
    let node = NodeCache.take(thread)
    node.putFunction(function, context)
    node.entry = functionEntry
    node.traits = WorkTraits(
      qos: QoSPropagation.inferred(from: PackedQoS(rawValue: thread.pointee.qos)))
    return node
  }

  @inline(__always)
  func putFunction(_ function: @escaping WorkFunction, _ context: UnsafeMutableRawPointer?) {
    store(function, 16)
    store(context, 24)
  }

  /// The entry of a node that carries only a function.
  static let functionEntry: Entry = { raw, thread in
    grandCentralFunctionCallout(of: WorkNode(raw), on: thread)
  }
}

// MARK: Calls to the client

// A backtrace shows by these functions where the engine ends and the client begins.

/// Empties a node that carries a closure, returns it to the cache, and calls the closure. The
/// closure is moved out and ends here: otherwise the compiler retains it around the call.
@inline(never)
func grandCentralClientCallout(of node: WorkNode, on thread: ThreadContext) {
  let work = node.takeClosure()
  NodeCache.put(node, thread)
  work()
}

/// Calls a closure that has already been taken out of its node.
@inline(never)
func grandCentralClientCallout(_ work: consuming @escaping () -> Void) {
  work()
}

extension WorkNode {
  /// The entry of a node that carries only a closure.
  @usableFromInline
  static let closureEntry: Entry = { raw, thread in
    grandCentralClientCallout(of: WorkNode(raw), on: thread)
  }
}

/// Empties a node that carries a function, returns it to the cache, and calls the function.
@inline(never)
func grandCentralFunctionCallout(of node: WorkNode, on thread: ThreadContext) {
  let function = node.load(16, as: WorkFunction.self)
  let context = node.load(24, as: UnsafeMutableRawPointer?.self)
  NodeCache.put(node, thread)
  function(context)
}

/// Calls a function whose context the caller keeps.
@inline(never)
func grandCentralFunctionCallout(_ function: WorkFunction, _ context: UnsafeMutableRawPointer?) {
  function(context)
}
