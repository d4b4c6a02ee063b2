// Room: Events/DescriptorEntry. What one source wants to know of a descriptor.
//   waiting ─ready→ told ─answer→ waiting          told ─answer, at the end→ ended ─something new→ told
//   waiting, told, ended ─lost→ lost
// Guarded by the lock of the SharedDescriptor that it is with. While it is told, its listener's own.

/// Who listens: a source.
protocol DescriptorListener: AnyObject, Sendable {
  /// Outside of all locks; any thread. Must not sleep.
  func descriptorIsReady(on thread: ThreadContext)
  /// For messages: "read source of descriptor 7 on queue 'x'".
  var listenerDescription: String { get }
}

final class DescriptorEntry: @unchecked Sendable {
  enum Direction { case read, write }
  enum State { case waiting, told, ended, lost }

  let direction: Direction
  /// Weakly: a source that nobody holds any more is not kept by its descriptor.
  weak var listener: (any DescriptorListener)?
  @Cell var state = State.waiting
  /// What it was told.
  @Cell var seen: Readiness = []

  /// How often its listener has looked itself since the kernel was last asked. Whose it is told.
  @Cell var looks = 0

  static var mostLooks: Int { 16 }

  init(_ direction: Direction) { self.direction = direction }

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
