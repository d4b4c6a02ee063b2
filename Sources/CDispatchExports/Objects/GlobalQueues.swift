// The global queues as C programs hold them. Some release what they never retained, and others the other way about, so
// their objects must be such that nobody counts: they get the reference count of an object that lives in a program's
// image, which the runtime leaves alone. It is copied from one that has it, the empty array's storage.

enum GlobalQueues {
  /// The address of `handles` once they are made; 0 before. A variable that is made at its first use has a lock to ask
  /// at every other.
  private static let published = Atomic<UInt>(0)

  /// By the class's number in C, of which few are one. Made at the first use, before any of them is handed out.
  // SAFETY: never changed after that.
  private nonisolated(unsafe) static let handles: UnsafeMutablePointer<Handle?> = {
    let empty: [Int] = []
    let count = unsafeBitCast(empty, to: UnsafeRawPointer.self).load(
      fromByteOffset: 8, as: UInt64.self)
    for queue in DispatchQueue.everlasting {
      let object = Unmanaged.passUnretained(queue).toOpaque()
      // Other threads may be counting: they exchange the whole word, find it changed, and leave it.
      object.storeBytes(of: count, toByteOffset: 8, as: UInt64.self)
    }
    let classes: [DispatchQoS.QoSClass] = [
      .unspecified, .background, .utility, .default, .userInitiated, .userInteractive,
    ]
    let handles = UnsafeMutablePointer<Handle?>.allocate(capacity: numbers)
    handles.initialize(repeating: nil, count: numbers)
    for qosClass in classes {
      handles[Int(qosClass.rawValue)] =
        Unmanaged.passUnretained(DispatchQueue.global(qos: qosClass)).toOpaque()
    }
    return handles
  }()
  private static let numbers = 0x22

  /// NULL for a number that is no class's.
  @inline(__always)
  static func handle(_ number: Int) -> Handle? {
    // acquiring: pairs with the releasing store in prepare().
    guard
      let handles = UnsafeMutablePointer<Handle?>(
        bitPattern: published.load(ordering: .acquiring))
    else { return handleOfFirstUse(number) }
    // A number below 0 is a large one.
    return UInt(bitPattern: number) < UInt(numbers) ? handles[number] : nil
  }

  @inline(never)
  private static func handleOfFirstUse(_ number: Int) -> Handle? {
    prepare()
    return handle(number)
  }

  /// Whether an address is that of a global queue.
  static func contains(_ handle: Handle) -> Bool {
    (0..<numbers).contains { handles[$0] == handle }
  }

  static func prepare() {
    // relaxed: the once below orders.
    if published.load(ordering: .relaxed) != 0 { return }
    // releasing: the handles, for handle(). Whoever comes here stores the same.
    published.store(UInt(bitPattern: handles), ordering: .releasing)
  }
}
