// Room: IO/IOFile+Join. One system call for several small writes.
// A program that logs, or answers many clients over one connection, has small writes in line, and a
// call takes longer than their bytes. So a write at the position that needs one call takes those
// behind it along: its followers. They leave the line and are in the state running, without being
// started. What the call did not reach goes back to the front of the line.
// A reader sees the bytes that it would see with a call for each write:
//   - Where it sees the ends of writes, as with datagrams, each has its own call.
//   - A pipe gets at most PIPE_BUF bytes at once, into which the kernel puts none of another
//     writer: pipe(7). Neither does it into so few bytes of a stream socket.
//   - An error belongs to the first write: if the call fails, that one is repeated alone.
import CGrandCentralLinux

extension IOFile {
  /// Into a file, a call takes at most as many bytes of several writes.
  private static var mostStored: Int { 65536 }

  // MARK: With the lock held

  /// Takes the writes out of line that the next call of `operation` makes too.
  func takeFollowers(of operation: IOOperation, _ step: IOStep) -> [IOOperation] {
    guard let segment = operation.segment, !segment.writes.isEmpty, operation.isJoinable,
      step.count == operation.length - operation.moved
    else { return [] }
    var room = mostJoined() - step.count
    while let next = segment.writes.first, next.isJoinable, next.follows(within: room),
      kind != .stored || next.sequence < segment.reads.first?.sequence ?? .max,
      followers.count < Transfer.maxStretches - 1
    {
      _ = segment.writes.popFirst()
      next.state = .running
      followers.append(next)
      room -= next.length
    }
    return followers
  }

  /// Records the result of a call for `operation` and its followers. Returns the operation if it
  /// has not ended.
  func take(
    _ outcome: Transfer.Outcome, of operation: IOOperation, _ followers: [IOOperation]
  ) -> IOOperation? {
    self.followers = []
    var left = if case .bytes(let count) = outcome { count } else { 0 }
    var unfinished: [IOOperation] = []
    for one in CollectionOfOne(operation) + followers {
      let bytes = min(left, one.length - one.moved)
      one.moved += bytes
      left -= bytes
      if one.moved == one.length || one.isStopped {
        end(one, one.isStopped ? ECANCELED : 0)
      } else {
        unfinished.append(one)
      }
    }
    for one in unfinished.reversed() where one !== operation {
      one.state = .queued
      one.segment?.writes.prepend(one)
    }
    guard unfinished.first === operation else {
      advance()
      return nil
    }
    switch outcome {
    case .bytes: if operation.isDue { operation.deliver() }
    case .failed: operation.isAlone = true
    case .wouldWait: if !take(outcome, .empty, of: operation) { return nil }
    }
    return operation
  }

  /// How many bytes of several writes one call may take; 0: each write needs its own.
  private func mostJoined() -> Int {
    if let knownMostJoined { return knownMostJoined }
    let most =
      switch kind {
      case .stored: Self.mostStored
      case .pipe, .socket: Transfer.keepsWritesApart(descriptor, kind) ? 0 : Int(PIPE_BUF)
      case .other, .directory: 0
      }
    knownMostJoined = most
    return most
  }
}

extension IOOperation {
  /// Whether one call may make it together with others.
  fileprivate var isJoinable: Bool {
    direction == .write && offset == nil && extent == .all && limits.intervalNanoseconds == 0
      && !isAlone
  }

  /// Whether it has not begun and is a single stretch, of which a call never takes a part because
  /// there is no room for more stretches, and which its limits let it move at once.
  fileprivate func follows(within room: Int) -> Bool {
    length > 0 && length <= room && moved == 0 && data.base != nil
      && nextCount(file.kind) == length
  }
}
