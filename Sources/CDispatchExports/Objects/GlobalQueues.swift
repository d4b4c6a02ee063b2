// The global queues as C programs hold them. Some release what they never retained, and others the other way about, so
// their objects must be such that nobody counts: they get the reference count of an object that lives in a program's
// image, which the runtime leaves alone. It is copied from one that has it, the empty array's storage.

enum GlobalQueues {
  /// By class. Made at the first use, before any of them is handed out.
  // SAFETY: never changed after that.
  private nonisolated(unsafe) static let handles: [DispatchQoS.QoSClass: Handle] = {
    let empty: [Int] = []
    let count = unsafeBitCast(empty, to: UnsafeRawPointer.self).load(
      fromByteOffset: 8, as: UInt64.self)
    for queue in DispatchQueue.everlasting {
      let object = Unmanaged.passUnretained(queue).toOpaque()
      // Other threads may be counting: they exchange the whole word, find it changed, and leave it.
      object.storeBytes(of: count, toByteOffset: 8, as: UInt64.self)
    }
    var handles: [DispatchQoS.QoSClass: Handle] = [:]
    let classes: [DispatchQoS.QoSClass] = [
      .unspecified, .background, .utility, .default, .userInitiated, .userInteractive,
    ]
    for qosClass in classes {
      handles[qosClass] =
        Unmanaged.passUnretained(DispatchQueue.global(qos: qosClass)).toOpaque()
    }
    return handles
  }()

  static func handle(_ qosClass: DispatchQoS.QoSClass) -> Handle? { handles[qosClass] }
  /// Whether an address is that of a global queue.
  static func contains(_ handle: Handle) -> Bool { handles.values.contains(handle) }
  static func prepare() { _ = handles }
}
