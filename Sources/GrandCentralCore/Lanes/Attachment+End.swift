// Room: Lanes/Attachment+End. What becomes of what a C program hung on an object: its finalizer runs on the target.

extension DispatchObject {
  /// At the object's death, with the lane that is its target if it was given no other.
  @inline(__always)
  final func endAttachment(on target: Lane) {
    // relaxed: whoever drops the last reference has all uses behind it.
    let address = UnsafeRawPointer(bitPattern: attachment.load(ordering: .relaxed))
    if let address { endAttachment(at: address, on: target) }
  }

  @inline(never)
  private final func endAttachment(at address: UnsafeRawPointer, on target: Lane) {
    // SAFETY: this takes the reference that madeAttachment() made.
    let ended = Unmanaged<Attachment>.fromOpaque(address).takeRetainedValue()
    let given = Unmanaged<Lane>.held(by: ended.target)
    let context = UnsafeMutableRawPointer(bitPattern: ended.context.load(ordering: .acquiring))
    let finalizer = unsafeBitCast(
      ended.finalizer.load(ordering: .acquiring), to: WorkFunction?.self)
    if let context, let finalizer {
      let thread = currentThread()
      let lane = given?.takeUnretainedValue() ?? target.finalizerTarget
      lane.submit(.function(finalizer, context, on: thread), from: thread)
    }
    given?.release()
  }

  /// Gives an object that is no lane a target for its finalizer. Any thread.
  final func attachTarget(_ lane: Lane) {
    let word = UInt(bitPattern: Unmanaged.passRetained(lane).toOpaque())
    let old = madeAttachment().target.exchange(word, ordering: .acquiringAndReleasing)
    Unmanaged<Lane>(word: old)?.release()
  }
}

extension Unmanaged<Lane> {
  fileprivate init?(word: UInt) {
    guard let address = UnsafeRawPointer(bitPattern: word) else { return nil }
    // SAFETY: only attachTarget() puts anything there.
    self = Unmanaged.fromOpaque(address)
  }

  fileprivate static func held(by word: borrowing Atomic<UInt>) -> Unmanaged? {
    Unmanaged(word: word.load(ordering: .acquiring))
  }
}
