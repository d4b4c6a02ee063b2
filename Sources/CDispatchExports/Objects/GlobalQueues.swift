// The global queues as C programs hold them. Some release what they never retained, and others the other way about, so
// their objects must be such that nobody counts: neither a program's references, nor Swift's. For those they get the
// reference count of an object that lives in a program's image, which the runtime leaves alone. It is copied from one
// that has it, the empty array's storage.

enum GlobalQueues {
  /// The address of `handles` once they are made; 0 before. A variable that is made at its first use has a lock to ask
  /// at every other.
  private static let published = Atomic<UInt>(0)

  /// By what the queue is asked for with: a class's number in C, or an older priority; most numbers are neither. Behind
  /// them those that overcommit, by the same numbers, and the one that takes each item's own class.
  /// Made at the first use, before any of them is handed out.
  // SAFETY: never changed after that.
  private nonisolated(unsafe) static let handles: UnsafeMutablePointer<Handle?> = {
    let empty: [Int] = []
    let references = unsafeBitCast(empty, to: UnsafeRawPointer.self).load(
      fromByteOffset: 8, as: UInt64.self)
    for queue in DispatchQueue.everlasting {
      let object = Unmanaged.passUnretained(queue).toOpaque()
      // Other threads may be counting: they exchange the whole word, find it changed, and leave it.
      object.storeBytes(of: references, toByteOffset: 8, as: UInt64.self)
      queue.setUncounted()
    }
    let handles = UnsafeMutablePointer<Handle?>.allocate(capacity: 2 * count + 1)
    handles.initialize(repeating: nil, count: 2 * count + 1)
    for (number, qosClass) in queues {
      handles[number - least] =
        Unmanaged.passUnretained(DispatchQueue.global(qos: qosClass)).toOpaque()
      handles[count + number - least] =
        Unmanaged.passUnretained(DispatchQueue.overcommitGlobal(qos: qosClass)).toOpaque()
    }
    // A program gets it as the current queue of what has no queue of its own.
    handles[2 * count] = Unmanaged.passUnretained(DispatchQueue.everlasting[0]).toOpaque()
    return handles
  }()
  /// Older priorities are small numbers, and one of them is 0, which is also the class that is none.
  private static var queues: [(Int, DispatchQoS.QoSClass)] {
    [
      (-2, .utility), (0, .default), (2, .userInitiated),
      (0x09, .background), (0x11, .utility), (0x15, .default), (0x19, .userInitiated),
      (0x21, .userInteractive),
    ]
  }
  private static var least: Int { -2 }
  private static var count: Int { 0x24 }
  /// The lowest of the older priorities is apart from all others.
  private static var background: Int { -32768 }

  /// NULL for a number that is neither.
  @inline(__always)
  static func handle(_ number: Int, overcommits: Bool = false) -> Handle? {
    // acquiring: pairs with the releasing store in prepare().
    guard
      let handles = UnsafeMutablePointer<Handle?>(
        bitPattern: published.load(ordering: .acquiring))
    else { return handleOfFirstUse(number, overcommits) }
    let first = overcommits ? count : 0
    // A number below the least is a large one.
    let place = UInt(bitPattern: number &- least)
    if place < UInt(count) { return handles[first + Int(place)] }
    return number == background ? handles[first + 0x09 - least] : nil
  }

  @inline(never)
  private static func handleOfFirstUse(_ number: Int, _ overcommits: Bool) -> Handle? {
    prepare()
    return handle(number, overcommits: overcommits)
  }

  /// Whether an address is that of a global queue.
  static func contains(_ handle: Handle?) -> Bool {
    (0...2 * count).contains { handles[$0] == handle }
  }

  static func prepare() {
    // relaxed: the once below orders.
    if published.load(ordering: .relaxed) != 0 { return }
    // releasing: the handles, for handle(). Whoever comes here stores the same.
    published.store(UInt(bitPattern: handles), ordering: .releasing)
  }
}
