// Room: IO/IO+Fork. Channels in a forked child: inherited operations never end, and later ones end
// with ECANCELED. The parent's channels use the parent's descriptors. A file is reset when the
// child first uses a channel of it, because no list has the files that are opened by path.

extension IOTable: ForkParticipant {
  func afterFork() {
    lock.withLock {
      files = [:]
      unblocked = [:]
    }
  }
}

extension FileWorkers: ForkParticipant {
  func afterFork() {
    lock.withLock {
      for place in classes.indices {
        while classes[place].waiting.popFirst() != nil {}
        classes[place].workers = 0
      }
    }
  }
}

extension IOFile {
  /// Calls `body` with the lock held, for each use of a channel. A forked child first abandons what
  /// the parent has.
  func withOwnState<Result>(_ body: () -> Result) -> Result {
    lock.withLock {
      leaveToParent()
      return body()
    }
  }

  /// Abandons the parent's operations in a forked child. Later requests end with ECANCELED.
  /// Closures that belong to the parent are neither run nor destroyed: they stay in memory.
  private func leaveToParent() {
    if home.isCurrent { return }
    home = HomeProcess()
    _ = Unmanaged.passRetained(Inherited(segments, started + followers, waiters))
    (segments, started, followers, waiters) = ([IOSegment()], [], [], [:])
    (barrierChannel, reads, writes, randomsStarted) = (nil, false, false, 0)
    stage = .failed(ECANCELED)
    for channel in channels + leavers {
      if let cleanup = channel.cleanup.take() { _ = Unmanaged.passRetained(Kept(cleanup)) }
      channel.error = ECANCELED
      channel.unfinished = 0
    }
    leavers = []
  }
}

/// State that a forked child keeps and never uses; see leaveToParent().
private final class Inherited {
  let segments: [IOSegment]
  let started: [IOOperation]
  let waiters: [IOOperation.Direction: IOWaiter]
  init(
    _ segments: [IOSegment], _ started: [IOOperation],
    _ waiters: [IOOperation.Direction: IOWaiter]
  ) {
    (self.segments, self.started, self.waiters) = (segments, started, waiters)
  }
}

private final class Kept {
  let work: (Int32) -> Void
  init(_ work: @escaping (Int32) -> Void) { self.work = work }
}
