// The global queues as C programs hold them. Some programs release a queue that they never
// retained, others retain without releasing, so neither a program's references nor Swift's may be
// counted. These objects get the reference count of an object in a program's image, which the Swift
// runtime never changes. It is copied from such an object, the empty array's storage.

enum GlobalQueues {
  /// The address of `handles` after their creation; 0 before. A lazily initialised variable would
  /// check its lock at every use.
  private static let published = Atomic<UInt>(0)

  /// The handles, indexed by a class's number in C or an older priority; most entries are NULL. The
  /// overcommit queues follow, by the same numbers, then the queue that uses each item's own class.
  /// Created at the first use, before any handle is given out.
  // SAFETY: never changed after their creation.
  private nonisolated(unsafe) static let handles: UnsafeMutablePointer<Handle?> = {
    let empty: [Int] = []
    let references = unsafeBitCast(empty, to: UnsafeRawPointer.self).load(
      fromByteOffset: 8, as: UInt64.self)
    for queue in DispatchQueue.immortal {
      let object = Unmanaged.passUnretained(queue).toOpaque()
      // Other threads may be counting: they compare-exchange the whole word, see the change, and
      // leave it.
      object.storeBytes(of: references, toByteOffset: 8, as: UInt64.self)
      queue.setUncounted()
    }
    let handles = UnsafeMutablePointer<Handle?>.allocate(capacity: 2 * count + 1)
    handles.initialize(repeating: nil, count: 2 * count + 1)
    for (number, qosClass) in queues {
      handles[number - minNumber] =
        Unmanaged.passUnretained(DispatchQueue.global(qos: qosClass)).toOpaque()
      handles[count + number - minNumber] =
        Unmanaged.passUnretained(DispatchQueue.overcommitGlobal(qos: qosClass)).toOpaque()
    }
    // A program gets it as the current queue of work without a queue of its own.
    handles[2 * count] = Unmanaged.passUnretained(DispatchQueue.immortal[0]).toOpaque()
    return handles
  }()
  /// Older priorities are small numbers. One is 0, which is also the unspecified class.
  private static var queues: [(Int, DispatchQoS.QoSClass)] {
    [
      (-2, .utility), (0, .default), (2, .userInitiated),
      (0x09, .background), (0x11, .utility), (0x15, .default), (0x19, .userInitiated),
      (0x21, .userInteractive),
    ]
  }
  private static var minNumber: Int { -2 }
  private static var count: Int { 0x24 }
  /// The background priority, far below the range of the others.
  private static var background: Int { -32768 }

  /// NULL for a number that is neither a class nor a priority.
  @inline(__always)
  static func handle(_ number: Int, overcommits: Bool = false) -> Handle? {
    // acquiring: pairs with the releasing store in prepare().
    guard
      let handles = UnsafeMutablePointer<Handle?>(
        bitPattern: published.load(ordering: .acquiring))
    else { return handleOfFirstUse(number, overcommits) }
    let first = overcommits ? count : 0
    // A number below the least wraps to a large one.
    let place = UInt(bitPattern: number &- minNumber)
    if place < UInt(count) { return handles[first + Int(place)] }
    return number == background ? handles[first + 0x09 - minNumber] : nil
  }

  @inline(never)
  private static func handleOfFirstUse(_ number: Int, _ overcommits: Bool) -> Handle? {
    prepare()
    return handle(number, overcommits: overcommits)
  }

  static func prepare() {
    // relaxed: a first look only; the once below orders.
    if published.load(ordering: .relaxed) != 0 { return }
    // releasing: publishes the handles to handle(). Every thread that gets here stores the same
    // value.
    published.store(UInt(bitPattern: handles), ordering: .releasing)
  }
}
