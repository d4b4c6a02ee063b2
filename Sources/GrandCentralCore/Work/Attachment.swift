// Room: Work/Attachment. What a C program hangs on an object: a context, a finalizer, a target, a label of its own.
// Made when the first of these is set, so that objects of Swift programs carry one word for it, and C programs that
// hang nothing on theirs do too. Each field is a word that any thread may exchange; whoever uses what it points to
// answers for its lifetime, as everywhere in C. The object's deinit takes the attachment off: Lanes/Attachment+End.swift.

/// A function as C programs submit it, called with its context.
package typealias WorkFunction = @convention(c) (UnsafeMutableRawPointer?) -> Void

final class Attachment {
  /// The program's.
  let context = Atomic<UInt>(0)
  /// A WorkFunction, or 0.
  let finalizer = Atomic<UInt>(0)
  /// A retained lane, of an object that is none itself, or 0.
  let target = Atomic<UInt>(0)
  /// A C string that is freed with the object, and one that is the program's; the second goes first. 0: none.
  let ownLabel = Atomic<UInt>(0)
  let givenLabel = Atomic<UInt>(0)

  deinit {
    // relaxed: whoever drops the last reference has all uses behind it.
    free(UnsafeMutableRawPointer(bitPattern: ownLabel.load(ordering: .relaxed)))
  }
}

extension DispatchObject {
  /// Without counting references: the object keeps it, and the caller the object.
  @inline(__always)
  private final func withAttachment<Result>(_ body: (Attachment) -> Result) -> Result? {
    // acquiring: pairs with the exchange in madeAttachment().
    let address = UnsafeRawPointer(bitPattern: attachment.load(ordering: .acquiring))
    guard let address else { return nil }
    // SAFETY: only madeAttachment() puts anything there, once.
    return Unmanaged<Attachment>.fromOpaque(address)._withUnsafeGuaranteedRef(body)
  }

  final func madeAttachment() -> Attachment {
    if let existing = withAttachment({ $0 }) { return existing }
    let made = Unmanaged.passRetained(Attachment())
    // releasing: what the object was initialised with. acquiring: that of another thread, which was faster.
    let (won, other) = attachment.compareExchange(
      expected: 0, desired: UInt(bitPattern: made.toOpaque()), successOrdering: .releasing,
      failureOrdering: .acquiring)
    if won { return made.takeUnretainedValue() }
    made.release()
    // SAFETY: not zero, or the exchange had won.
    let raw = UnsafeRawPointer(bitPattern: other).unsafelyUnwrapped
    return Unmanaged<Attachment>.fromOpaque(raw).takeUnretainedValue()
  }

  /// The program's pointer, for its finalizer and the handlers that are functions. Any thread.
  package final var context: UnsafeMutableRawPointer? {
    get {
      // acquiring, and releasing below: what the pointer points to.
      let word = withAttachment { $0.context.load(ordering: .acquiring) }
      return UnsafeMutableRawPointer(bitPattern: word ?? 0)
    }
    set {
      // Most programs set a context once and never take it off.
      if newValue == nil && attachment.load(ordering: .relaxed) == 0 { return }
      madeAttachment().context.store(UInt(bitPattern: newValue), ordering: .releasing)
    }
  }

  /// What is called with the context, on the target queue, when the object has ended; not without a context.
  package final func setFinalizer(_ finalizer: WorkFunction?) {
    let word = unsafeBitCast(finalizer, to: UInt.self)
    madeAttachment().finalizer.store(word, ordering: .releasing)
  }

  /// The label that was given last, as a C string that lives as long as the object. `makeCopy` is asked for memory with
  /// it the first time, unless a program has given one of its own.
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
    // SAFETY: not zero, or the exchange had won.
    return UnsafePointer<CChar>(bitPattern: other).unsafelyUnwrapped
  }

  /// Takes a label that is the program's, and is not copied; `nil`: back to the one from before.
  package final func setLabelString(_ label: UnsafePointer<CChar>?) {
    madeAttachment().givenLabel.store(UInt(bitPattern: label), ordering: .releasing)
  }
}
