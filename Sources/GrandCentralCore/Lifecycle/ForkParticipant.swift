// Room: Lifecycle/ForkParticipant. What a part of the engine does in a forked child.
// The README lists the participants, in the order in which a child resets them. A part that is made
// on first use registers itself (LazySlot, in Queues/Runtime+Fork). A part of another part is reset
// by that part.
// Invariant: a participant registers before another thread can reach it, and never ends. So a child
// resets every part that its parent had.

/// A part of the engine whose words may describe threads, or whose descriptors may be shared, that
/// a forked child does not have.
protocol ForkParticipant: AnyObject, Sendable {
  /// Resets the part in a forked child. Runs on the child's only thread, with the engine's locks
  /// free. It neither runs nor destroys what belongs to the parent.
  func afterFork()

  /// Does the same to objects that no other thread can reach, before the first fork, so that the
  /// child does nothing for the first time (Primitives/ForkGate). By default afterFork().
  func rehearseFork()
}

extension ForkParticipant {
  func rehearseFork() { afterFork() }

  /// Rehearses, and registers the part for the life of the process. Parts are reset in the order of
  /// their registration. Call it before other threads can reach the part.
  func joinForks() {
    ForkGate.whenForked {
      self.afterFork()
    } rehearsal: {
      self.rehearseFork()
    }
  }
}

/// The process that made a value: a forked child knows by it what belongs to its parent.
struct HomeProcess {
  private let generation = ForkGate.generation

  /// Whether the calling process made the value.
  var isCurrent: Bool { generation == ForkGate.generation }
}
