// Room: Work/Attachment. What a C program attaches to an object: context, finalizer, target, label.
// The attachment is made when the first of these is set, so an object without any carries only one
// word for it. Each field is a word that any thread may exchange; as everywhere in C, the user of a
// pointer is responsible for the lifetime of what it points to. The object's deinit removes the
// attachment: Lanes/Attachment+End.swift.

/// A function that a C program submits, called with its context.
package typealias WorkFunction = @convention(c) (UnsafeMutableRawPointer?) -> Void

final class Attachment {
  /// The program's context pointer.
  let context = Atomic<UInt>(0)
  /// A WorkFunction, or 0.
  let finalizer = Atomic<UInt>(0)
  /// A retained lane, the target of an object that is not itself a lane, or 0.
  let target = Atomic<UInt>(0)
  /// A C string freed with the object, and one that the program owns, which has priority. 0: none.
  let ownLabel = Atomic<UInt>(0)
  let givenLabel = Atomic<UInt>(0)

  deinit {
    // relaxed: all uses happen before the last reference is dropped.
    free(UnsafeMutableRawPointer(bitPattern: ownLabel.load(ordering: .relaxed)))
  }
}

extension DispatchObject {
  /// Calls `body` with the attachment, if any, without counting references.
  @inline(__always)
  private final func withAttachment<Result>(_ body: (Attachment) -> Result) -> Result? {
    // acquiring: pairs with the exchange in madeAttachment().
    let address = UnsafeRawPointer(bitPattern: attachment.load(ordering: .acquiring))
    guard let address else { return nil }
    // SAFETY: only madeAttachment() stores an address here, once.
    return Unmanaged<Attachment>.fromOpaque(address)._withUnsafeGuaranteedRef(body)
  }

  final func madeAttachment() -> Attachment {
    if let existing = withAttachment({ $0 }) { return existing }
    let made = Unmanaged.passRetained(Attachment())
    // releasing: the initialization of the object. acquiring: the winner's.
    let (won, other) = attachment.compareExchange(
      expected: 0, desired: UInt(bitPattern: made.toOpaque()), successOrdering: .releasing,
      failureOrdering: .acquiring)
    if won { return made.takeUnretainedValue() }
    made.release()
    // SAFETY: not zero, or the exchange would have won.
    let raw = UnsafeRawPointer(bitPattern: other).unsafelyUnwrapped
    return Unmanaged<Attachment>.fromOpaque(raw).takeUnretainedValue()
  }

  /// The program's pointer, passed to its finalizer and to handlers that are functions. Any thread.
  package final var context: UnsafeMutableRawPointer? {
    get {
      // acquiring here, releasing below: the memory that the pointer points to.
      let word = withAttachment { $0.context.load(ordering: .acquiring) }
      return UnsafeMutableRawPointer(bitPattern: word ?? 0)
    }
    set {
      // Most programs set a context once and never clear it.
      if newValue == nil && attachment.load(ordering: .relaxed) == 0 { return }
      madeAttachment().context.store(UInt(bitPattern: newValue), ordering: .releasing)
    }
  }

  /// Sets the function that is called with the context on the target queue when the object has
  /// ended. It is not called without a context.
  final func setFinalizer(_ finalizer: WorkFunction?) {
    let word = unsafeBitCast(finalizer, to: UInt.self)
    madeAttachment().finalizer.store(word, ordering: .releasing)
  }

  /// Returns the label that was set last, as a C string that lives as long as the object. The first
  /// call gets memory with the label from `makeCopy`, unless the program has set one.
  package final func labelString(
    _ makeCopy: () -> UnsafeMutablePointer<CChar>?
  ) -> UnsafePointer<CChar> {
    let attachment = madeAttachment()
    let given = attachment.givenLabel.load(ordering: .acquiring)
    if let label = UnsafePointer<CChar>(bitPattern: given) { return label }
    let existing = attachment.ownLabel.load(ordering: .acquiring)
    if let label = UnsafePointer<CChar>(bitPattern: existing) { return label }
    guard let copy = makeCopy() else { engineFault("There is no memory for a label.") }
    let (won, other) = attachment.ownLabel.compareExchange(
      expected: 0, desired: UInt(bitPattern: copy), successOrdering: .releasing,
      failureOrdering: .acquiring)
    if won { return UnsafePointer(copy) }
    free(copy)
    // SAFETY: not zero, or the exchange would have won.
    return UnsafePointer<CChar>(bitPattern: other).unsafelyUnwrapped
  }

  /// Sets a label that the program owns, without copying it; `nil` restores the original label.
  package final func setLabelString(_ label: UnsafePointer<CChar>?) {
    madeAttachment().givenLabel.store(UInt(bitPattern: label), ordering: .releasing)
  }
}
