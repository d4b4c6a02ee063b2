// Room: Work/DispatchObject. The base class of all objects of the API.

/// The base class of queues, groups, semaphores, sources and I/O channels.
///
/// - Source: Apple, Dispatch, `DispatchObject`.
public class DispatchObject {
  /// The retained `Attachment` of a C program, or 0.
  final let attachment = Atomic<UInt>(0)
  /// The number of references that C programs hold: see ClientReferences.
  final let clientReferences = Atomic<UInt32>(0)

  init() {}

  /// Sets the queue on which the work of this object finally runs; `nil` resets it. The public form
  /// is `setTarget(queue:)` in Queues, which passes a `DispatchQueue`.
  func changeTarget(to queue: DispatchObject?) {}

  /// Starts an initially inactive object.
  ///
  /// Affects queues and sources. Further calls have no effect. Any thread may call it.
  ///
  /// - Source: Apple, Dispatch, `DispatchObject.activate()`.
  public func activate() {}

  /// Prevents further work of this object from starting.
  ///
  /// Work that runs already continues. Balance each call with `resume()`. Affects queues and
  /// sources, except the main queue and global queues. Traps if the count of suspensions overflows.
  /// Any thread may call it.
  ///
  /// - Source: Apple, Dispatch, `DispatchObject.suspend()`.
  public func suspend() {}

  /// Takes back one `suspend()`.
  ///
  /// Work starts again when every `suspend()` is taken back. A source that was never active, and
  /// has no `suspend()` to take back, is activated instead. Affects queues and sources, except the
  /// main queue and global queues. Traps without a matching `suspend()`. Any thread may call it.
  ///
  /// - Source: Apple, Dispatch, `DispatchObject.resume()`.
  public func resume() {}

  /// The number of the object's record on the board; 0 if it has none: see BlackBox.
  func placeOnBoard() -> UInt32 { 0 }

  /// The same for the queue that runs the object's items, and whether the items are events of a
  /// source. Call on the thread that runs an item of the object.
  func placeOfItems() -> (place: UInt32, isSource: Bool) { (placeOnBoard(), false) }

  /// Runs a node that counts as running on this object, then stops counting it. See
  /// `WorkTraits.carried`.
  func runCarried(_ node: WorkNode, on thread: ThreadContext) {
    engineFault("A node is carried by an object that carries none.")
  }
}

/// Objects are equal if they are the same object.
extension DispatchObject: Hashable {
  /// Whether both are the same object.
  ///
  /// - Parameters:
  ///   - left: an object.
  ///   - right: an object.
  /// - Returns: `true` if they are one object.
  /// - Source: Apple, Objective-C, `NSObjectProtocol.isEqual(_:)`; Dispatch keeps identity.
  public static func == (left: DispatchObject, right: DispatchObject) -> Bool { left === right }

  /// Hashes the object's identity.
  ///
  /// - Parameter hasher: receives the identity.
  /// - Source: Swift standard library, `Hashable`.
  public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
