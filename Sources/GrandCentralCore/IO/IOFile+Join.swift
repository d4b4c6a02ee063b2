// Room: IO/IOFile+Join. One system call for several small writes.
// A program that logs, or answers many clients over one connection, has small writes in line, and a
// call takes longer than their bytes. So a write to a pipe or socket that needs one call takes
// those behind it along: its followers. They leave the line and are in the state running, without
// being started. Their bytes are copied into one stretch, so that pages of a pipe fill up as with a
// call for each. What the call did not reach goes back to the front of the line.
// Readers and other writers see what they would see with a call for each:
//   - At most PIPE_BUF bytes go at once. A pipe takes them whole or not at all, and puts none of
//     another writer between them: pipe(7). So does a local socket, if its buffer is large enough.
//     TCP may take a part of any write.
//   - gc_most_joined() says where even that shows.
//   - If the call moves nothing, the first write is repeated alone: it may fit, or the error may be
//     another's. After an error, which the others will probably have too, so are they.
import CGrandCentralLinux

extension IOFile {
  // MARK: With the lock held

  /// Takes the writes out of line that the next call of `operation` makes too.
  func takeFollowers(of operation: IOOperation, _ step: IOStep) -> [IOOperation] {
    guard let segment = operation.segment, operation.isJoinable,
      step.count == operation.length - operation.moved,
      let first = segment.writes.first, first.follows(within: Int(PIPE_BUF) - step.count)
    else { return [] }
    var room = Transfer.mostJoined(descriptor, kind) - step.count
    while let next = segment.writes.first, next.follows(within: room) {
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
        if one !== operation && one.isDue { one.deliver() }
        unfinished.append(one)
      }
    }
    if case .failed = outcome { for one in unfinished { one.isAlone = true } }
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
    case .failed, .wouldWait: operation.isAlone = true
    }
    return operation
  }

  // MARK: Without the lock

  func writeJoined(_ step: IOStep, _ data: DispatchData) -> Transfer.Outcome {
    withUnsafeTemporaryAllocation(byteCount: Int(PIPE_BUF), alignment: 16) { buffer in
      var used = step.count
      data.copyBytes(to: buffer, from: step.start..<step.start + step.count)
      for follower in step.followers {
        let room = UnsafeMutableRawBufferPointer(rebasing: buffer[used...])
        follower.data.copyBytes(to: room, count: follower.length)
        used += follower.length
      }
      return withUnsafePointer(to: Transfer.Stretch(start: buffer.baseAddress, bytes: used)) {
        Transfer.write(
          step.descriptor, UnsafeBufferPointer(start: $0, count: 1), at: nil, kind: step.kind)
      }
    }
  }
}

extension IOOperation {
  /// Whether one call may make it together with others.
  fileprivate var isJoinable: Bool {
    direction == .write && offset == nil && extent == .all && limits.intervalNanoseconds == 0
      && !isAlone
  }

  /// Whether a call with so much room may make all of it, as the limits ask for at once.
  fileprivate func follows(within room: Int) -> Bool {
    isJoinable && length > 0 && length <= room && moved == 0 && nextCount(file.kind) == length
  }
}
