// Room: Events/DescriptorEntry. What one source wants to know of a descriptor.
//   waiting ─ready→ told ─answer→ waiting          told ─answer, at the end→ ended ─something new→ told
//   waiting, told, ended ─lost→ lost
// Guarded by the lock of the SharedDescriptor that it is with. While it is told, its listener's own.

final class DescriptorEntry: @unchecked Sendable {
  enum Direction { case read, write }
  enum State { case waiting, told, ended, lost }

  let direction: Direction
  let descriptor: Int32
  /// For messages.
  private let queueLabel: String
  /// The source, not retained: it leaves before it dies, under the lock. So while that is held its memory is there, and
  /// `tryRetain` says whether it still lives.
  /// Set once, before anybody else knows the entry.
  @Cell var listener: Unmanaged<Lane>?
  @Cell var state = State.waiting
  /// What it was told.
  @Cell var seen: Readiness = []
  /// How often its listener has looked itself since the kernel was last asked. Whose it is told.
  @Cell var looks = 0

  static var mostLooks: Int { 16 }

  init(_ direction: Direction, of descriptor: Int32, queueLabel: String) {
    self.direction = direction
    self.descriptor = descriptor
    self.queueLabel = queueLabel
  }

  /// For messages.
  var description: String {
    "\(direction) source of descriptor \(descriptor) on queue '\(queueLabel)'"
  }

  /// What the kernel is asked for.
  var interest: Readiness {
    direction == .read ? [.readable, .readHangUp] : .writable
  }

  /// Whether `readiness` is news for it.
  func cares(for readiness: Readiness, isAlwaysReady: Bool) -> Bool {
    switch state {
    case .waiting: !readiness.isDisjoint(with: interest.union(Self.unasked))
    // It knows that the other side has gone; that somebody has come back is news.
    case .ended:
      !isAlwaysReady && !readiness.isDisjoint(with: interest.subtracting(.readHangUp))
        && readiness.isDisjoint(with: Self.unasked.union(.readHangUp))
    case .told, .lost: false
    }
  }

  static let unasked: Readiness = [.error, .hangUp]
}
