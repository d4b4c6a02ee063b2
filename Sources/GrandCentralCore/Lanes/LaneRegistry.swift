// Room: Lanes/LaneRegistry. Every lane that there is, for those who must come to each of them.
// A child that was forked must: which lanes other threads held or had filled no list says, since an idle queue is in
// none, and a thread may have taken one without having said so yet.
// Linked through the lanes, in parts by address, so that queues that are made and die on several threads do not meet at
// one lock. A lane is in it from the end of its initialiser to the beginning of its end.

enum LaneRegistry {
  private struct Part: ~Copyable {
    let lock = Lock()
    /// Guarded by the lock.
    var first: Unmanaged<Lane>?
  }
  private static var partCount: Int { 32 }
  // SAFETY: made once, never returned; each part is read and written under its lock.
  nonisolated(unsafe) private static let parts = {
    let parts = UnsafeMutablePointer<Part>.allocate(capacity: partCount)
    for index in 0..<partCount { (parts + index).initialize(to: Part()) }
    return parts
  }()

  private static func part(of lane: Lane) -> UnsafeMutablePointer<Part> {
    // Objects are some hundred bytes apart.
    let address = UInt(bitPattern: lane.address)
    return parts + Int((address >> 5 ^ address >> 12) % UInt(partCount))
  }

  static func add(_ lane: Lane) {
    #if !GRANDCENTRAL_MODEL
      let own = Unmanaged.passUnretained(lane)
      let part = part(of: lane)
      part.pointee.lock.lock()
      lane.nextRegistered = part.pointee.first
      part.pointee.first?._withUnsafeGuaranteedRef { $0.previousRegistered = own }
      part.pointee.first = own
      part.pointee.lock.unlock()
    #endif
  }

  static func remove(_ lane: Lane) {
    #if !GRANDCENTRAL_MODEL
      let part = part(of: lane)
      part.pointee.lock.lock()
      let (next, previous) = (lane.nextRegistered, lane.previousRegistered)
      next?._withUnsafeGuaranteedRef { $0.previousRegistered = previous }
      if let previous {
        previous._withUnsafeGuaranteedRef { $0.nextRegistered = next }
      } else {
        part.pointee.first = next
      }
      part.pointee.lock.unlock()
    #endif
  }

  /// In a child that was forked, where nobody else is. Some may have no reference left.
  static func visitAll(_ body: (Unmanaged<Lane>) -> Void) {
    for index in 0..<partCount {
      var next = parts[index].first
      while let lane = next {
        body(lane)
        next = lane._withUnsafeGuaranteedRef { $0.nextRegistered }
      }
    }
  }
}
