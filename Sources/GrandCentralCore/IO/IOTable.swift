// Room: IO/IOTable. The files that have channels, by descriptor; how a descriptor is taken over and
// given back.

final class IOTable: @unchecked Sendable {
  static var shared: IOTable {
    Runtime.shared.channels.get { IOTable() }
  }

  let lock = Lock()
  /// Guarded by the lock.
  @Cell var files: [Int32: IOFile] = [:]
  /// Files made non-blocking, by identity. Those of one identity may be duplicates of one open
  /// file, and then share its flags.
  @Cell var unblocked: [FileStatus.Identity: [IOFile]] = [:]

  /// Makes a channel for a descriptor.
  func channel(
    _ descriptor: Int32, isRandom: Bool, queue: DispatchQueue, leavesAlone: Bool = false,
    cleanup: @escaping (Int32) -> Void
  ) -> IOChannel {
    let status: FileStatus
    switch FileStatus.of(descriptor) {
    case .status(let found): status = found
    case .closed: return failed(EBADF, descriptor, isRandom, queue, cleanup)
    case .unknown: return failed(EIO, descriptor, isRandom, queue, cleanup)
    }
    let kind = FileKind(mode: status.mode)
    let place = origin(of: descriptor, isRandom: isRandom)
    return made {
      let file = file(descriptor, kind, status)
      let channel = IOChannel(
        isRandom: isRandom, file: file, origin: place.origin, queue: queue,
        leavesAlone: leavesAlone, cleanup: cleanup)
      let refusal = channel.refusal(kind)
      attach(channel, refusal: refusal != 0 ? refusal : place.error)
      return channel
    }
  }

  /// Makes a channel for a file that is opened later.
  func channel(
    _ path: IOFile.Path, isRandom: Bool, queue: DispatchQueue, cleanup: @escaping (Int32) -> Void
  ) -> IOChannel {
    let file = IOFile(path: path)
    let channel = made {
      let channel = IOChannel(isRandom: isRandom, file: file, queue: queue, cleanup: cleanup)
      // The existence check counts as an operation: the cleanup handler waits for it.
      channel.unfinished = 1
      attach(channel, refusal: 0)
      return channel
    }
    // A file system may answer slowly.
    DispatchQueue.global().asyncUnsafe { file.look(for: channel) }
    return channel
  }

  /// Makes another channel for the file of `other`.
  func channel(
    with other: IOChannel, isRandom: Bool, queue: DispatchQueue, cleanup: @escaping (Int32) -> Void
  ) -> IOChannel {
    made {
      let file = other.file
      // In a forked child, before the new channel joins those that belong to the parent.
      let (error, kind, descriptor) = file.withOwnState {
        (
          other.isClosed ? ECANCELED : other.error, file.stage == .open ? file.kind : nil,
          file.path == nil ? file.descriptor : -1
        )
      }
      if error != 0 { return failed(error, -1, isRandom, queue, cleanup) }
      let place = origin(of: descriptor, isRandom: isRandom && descriptor >= 0)
      let channel = IOChannel(
        isRandom: isRandom, file: file, origin: place.origin, queue: queue, cleanup: cleanup)
      let refusal = kind.map { channel.refusal($0) } ?? 0
      attach(channel, refusal: refusal != 0 ? refusal : place.error)
      return channel
    }
  }

  /// Returns what `make` makes, under the lock.
  private func made(_ make: () -> IOChannel) -> IOChannel {
    var channel: IOChannel?
    withAmpleStack { channel = lock.withLock(make) }
    return channel.unsafelyUnwrapped
  }

  private func attach(_ channel: IOChannel, refusal: Int32) {
    let file = channel.file
    file.lock.withLock {
      channel.place = file.channels.count
      file.channels.append(channel)
      let failure: Int32 = if case .failed(let error) = file.stage { error } else { 0 }
      if refusal != 0 || failure != 0 { channel.fail(refusal != 0 ? refusal : failure) }
    }
  }

  private func failed(
    _ error: Int32, _ descriptor: Int32, _ isRandom: Bool, _ queue: DispatchQueue,
    _ cleanup: @escaping (Int32) -> Void
  ) -> IOChannel {
    let file = IOFile(descriptor: descriptor, failed: error)
    let channel = IOChannel(isRandom: isRandom, file: file, queue: queue, cleanup: cleanup)
    attach(channel, refusal: error)
    return channel
  }

  private func origin(of descriptor: Int32, isRandom: Bool) -> (origin: Int64, error: Int32) {
    guard isRandom else { return (0, 0) }
    switch Transfer.position(descriptor) {
    case .success(let position): return (position, 0)
    case .failure(let error): return (0, error.number)
    }
  }

  /// Returns the file of a descriptor. Call with the lock held. If the number was closed under its
  /// channels and reused, the old file is lost and a new one is made.
  private func file(_ descriptor: Int32, _ kind: FileKind, _ status: FileStatus) -> IOFile {
    if let known = files[descriptor], known.identity?.isSameFile(as: status) == true {
      return known
    }
    if let lost = files[descriptor] {
      forget(lost)
      lost.lock.withLock { lost.lose() }
    }
    let made = IOFile(descriptor, kind: kind, identity: status)
    // Threads that may sleep move the bytes of stored files. Other descriptors must not block a
    // thread.
    if kind != .stored && kind != .directory {
      made.restoresBlocking = Transfer.makeNonBlocking(descriptor)
      unblocked[status.identity, default: []].append(made)
    }
    files[descriptor] = made
    return made
  }

  /// Ends `file` if it has no channel and is not being opened. Any thread, without locks.
  ///
  /// The caller has seen the last channel detach, without the table's lock. If another channel has
  /// been attached since, the file stays. Leavers that need not wait for other channels then get
  /// their cleanup handlers here, because the new channel may stay for ever.
  ///
  /// An open in progress may still create or truncate the file, so the cleanup handlers wait for
  /// it: openPath() calls this function again.
  func release(_ file: IOFile) {
    let leavers = lock.withLock { () -> [IOChannel] in
      let (ends, leavers) = file.lock.withLock { () -> (Bool, [IOChannel]) in
        if file.isOver || file.stage == .opening { return (false, []) }
        let all = file.leavers
        if !file.channels.isEmpty {
          file.leavers = all.filter { !$0.leavesAlone }
          return (false, all.filter { $0.leavesAlone })
        }
        file.leavers = []
        file.isOver = true
        file.stopListening()
        return (true, all)
      }
      if ends { giveBack(file) }
      return leavers
    }
    for channel in leavers { channel.submitCleanup(0) }
  }

  private func giveBack(_ file: IOFile) {
    if file.path != nil {
      if file.descriptor >= 0 { Transfer.close(file.descriptor) }
      return
    }
    let isKnown = files[file.descriptor] === file
    if isKnown { files[file.descriptor] = nil }
    let others = forget(file)
    guard isKnown && file.restoresBlocking && !file.isLost else { return }
    // Another descriptor of the same open file, made by dup(2), must stay non-blocking while it has
    // channels. The last of them makes the file blocking again.
    if let heir = others.first(where: { Transfer.shareFlags($0.descriptor, file.descriptor) }) {
      heir.restoresBlocking = true
    } else {
      Transfer.makeBlocking(file.descriptor)
    }
  }

  /// Removes the file from `unblocked`. Returns the other files of the same identity. Call with the
  /// lock held.
  @discardableResult
  private func forget(_ file: IOFile) -> [IOFile] {
    guard let identity = file.identity?.identity, var others = unblocked[identity] else {
      return []
    }
    others.removeAll { $0 === file }
    unblocked[identity] = others.isEmpty ? nil : others
    return others
  }
}

// MARK: By path

extension IOFile {
  /// Checks whether the file exists or can be created.
  fileprivate func look(for first: IOChannel) {
    guard let path else { return }
    var found = FileKind.of(path: path.path)
    if case .failure(let error) = found, error.number == ENOENT, path.flags & O_CREAT != 0 {
      found = FileKind.of(path: path.folder).map { _ in .stored }
    }
    let isLast = lock.withLock {
      switch found {
      case .success(let kind):
        stage = .unopened
        for channel in channels {
          let refusal = channel.refusal(kind)
          if refusal == 0 { continue }
          channel.fail(refusal)
          endQueued(of: channel, refusal)
        }
      case .failure(let error): fail(error.number)
      }
      advance()
      first.unfinished -= 1
      return detachIfDone(first)
    }
    if isLast { IOTable.shared.release(self) }
  }

  private func fail(_ error: Int32) {
    stage = .failed(error)
    for channel in channels { channel.fail(error) }
  }

  /// Opens the file for the first operation or barrier. Runs on a thread that may sleep.
  /// The file is not released before the end, even if what needed it has been stopped meanwhile.
  func openPath() {
    guard let path else { return }
    let opened = Blocking.announced(currentThread(), BoardWait(.file)) {
      Transfer.open(path.path, path.flags, path.mode)
    }
    var kind = Result<FileKind, SystemError>.success(.other)
    if case .success(let descriptor) = opened {
      kind = FileKind.of(descriptor)
      if case .failure = kind { Transfer.close(descriptor) }
    }
    let isUnused = lock.withLock {
      switch (opened, kind) {
      case (.success(let descriptor), .success(let kind)):
        self.descriptor = descriptor
        self.kind = kind
        stage = .open
        // The path may name another kind of file by now. The channels have been made, so their
        // operations report that, like an error of open(2).
        for channel in channels where channel.error == 0 {
          let refusal = channel.refusal(kind)
          if refusal == 0 { continue }
          channel.error = refusal
          endQueued(of: channel, refusal)
        }
      case (.failure(let error), _), (.success, .failure(let error)):
        // The channels have been made, so only their operations report the error; cleanup handlers
        // get 0.
        stage = .failed(error.number)
      }
      advance()
      return channels.isEmpty
    }
    if isUnused { IOTable.shared.release(self) }
  }
}

extension IOFile.Path {
  fileprivate var folder: [CChar] {
    let slash = CChar(UInt8(ascii: "/"))
    guard let last = path.lastIndex(of: slash), last != path.startIndex else { return [slash, 0] }
    return path[..<last] + [0]
  }
}
