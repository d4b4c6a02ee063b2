// Room: Events/DescriptorEntry. The interest of one source in a descriptor.
//   waiting ─ready→ notified ─answer→ waiting
//   notified ─answer, at the end→ ended ─something new→ notified
//   waiting, notified, ended ─lost→ lost
// Invariant: the lock of its SharedDescriptor guards it. While it is notified, `seen` and `looks`
// belong to its listener.

final class DescriptorEntry: @unchecked Sendable {
  enum Direction { case read, write }
  enum State { case waiting, notified, ended, lost }

  let direction: Direction
  let descriptor: Int32
  /// The label in messages.
  private let queueLabel: String
  /// The source, not retained. The source leaves before it dies, under the lock. So its memory is
  /// valid while the lock is held, and `tryRetain` says whether the source is still alive. Set
  /// once, before another thread can reach the entry.
  @Cell var listener: Unmanaged<Lane>?
  @Cell var state = State.waiting
  /// The readiness it was notified of.
  @Cell var seen: Readiness = []
  /// The number of looks by its listener since the last that was refused for being one too many.
  @Cell var looks = 0

  static var maxLooks: Int { 16 }

  init(_ direction: Direction, of descriptor: Int32, queueLabel: String) {
    self.direction = direction
    self.descriptor = descriptor
    self.queueLabel = queueLabel
  }

  /// Names the source in messages.
  var description: String {
    "\(direction) source of descriptor \(descriptor) on queue '\(queueLabel)'"
  }

  /// The readiness to ask the kernel for.
  var interest: Readiness {
    direction == .read ? [.readable, .readHangUp] : .writable
  }

  /// Whether `readiness` is new to this entry.
  func cares(for readiness: Readiness, isAlwaysReady: Bool) -> Bool {
    switch state {
    case .waiting: !readiness.isDisjoint(with: interest.union(Self.unasked))
    // The source knows of the hang-up. It does not know that a new peer has connected.
    case .ended:
      !isAlwaysReady && !readiness.isDisjoint(with: interest.subtracting(.readHangUp))
        && readiness.isDisjoint(with: Self.unasked.union(.readHangUp))
    case .notified, .lost: false
    }
  }

  static let unasked: Readiness = [.error, .hangUp]
}
