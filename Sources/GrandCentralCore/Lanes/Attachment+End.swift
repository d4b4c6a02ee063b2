// Room: Lanes/Attachment+End. Runs the finalizer that a C program set on an object, on its target.

extension DispatchObject {
  /// Ends the attachment when the object ends. `target`: the lane for the finalizer; `nil` if the
  /// object is not a lane, since its attachment has a target of its own then.
  @inline(__always)
  final func endAttachment(on target: Lane? = nil) {
    // relaxed: all uses of the object happen before its last release.
    let address = UnsafeRawPointer(bitPattern: attachment.load(ordering: .relaxed))
    if let address { endAttachment(at: address, on: target) }
  }

  @inline(never)
  private final func endAttachment(at address: UnsafeRawPointer, on target: Lane?) {
    // SAFETY: this takes the reference that madeAttachment() made.
    let ended = Unmanaged<Attachment>.fromOpaque(address).takeRetainedValue()
    let given = Unmanaged<Lane>.held(by: ended.target)
    let context = UnsafeMutableRawPointer(bitPattern: ended.context.load(ordering: .acquiring))
    let finalizer = unsafeBitCast(
      ended.finalizer.load(ordering: .acquiring), to: WorkFunction?.self)
    if let context, let finalizer {
      let thread = currentThread()
      let lane = given?.takeUnretainedValue() ?? target?.finalizerTarget
      guard let lane else { engineFault("A finalizer was set without a queue to run it.") }
      lane.submit(.function(finalizer, context, on: thread), from: thread)
    }
    given?.release()
  }

  /// Sets the target of the finalizer, on an object that is not a lane. Any thread.
  final func attachTarget(_ lane: Lane) {
    let word = UInt(bitPattern: Unmanaged.passRetained(lane).toOpaque())
    let old = madeAttachment().target.exchange(word, ordering: .acquiringAndReleasing)
    Unmanaged<Lane>(word: old)?.release()
  }

  /// Sets the target of the finalizer unless there is one. As `attachTarget(_:)`.
  final func attachFirstTarget(_ lane: Lane) {
    let attachment = madeAttachment()
    if attachment.target.load(ordering: .relaxed) != 0 { return }
    let reference = Unmanaged.passRetained(lane)
    let (won, _) = attachment.target.compareExchange(
      expected: 0, desired: UInt(bitPattern: reference.toOpaque()), ordering: .acquiringAndReleasing
    )
    if !won { reference.release() }
  }
}

extension Unmanaged<Lane> {
  fileprivate init?(word: UInt) {
    guard let address = UnsafeRawPointer(bitPattern: word) else { return nil }
    // SAFETY: only attachTarget() stores this word.
    self = Unmanaged.fromOpaque(address)
  }

  fileprivate static func held(by word: borrowing Atomic<UInt>) -> Unmanaged? {
    Unmanaged(word: word.load(ordering: .acquiring))
  }
}
