// Room: IO/IOTable. Which descriptors have channels, by number; how files are taken, and given back.

final class IOTable: @unchecked Sendable {
  static var shared: IOTable {
    Runtime.shared.channels.get {
      let made = IOTable()
      ForkGate.whenForked { made.afterFork() }
      return made
    }
  }

  private let lock = Lock()
  /// Guarded by the lock.
  @Cell private var files: [Int32: IOFile] = [:]
  /// Which of them may share a file's flags: those that do not block because of us, or of each other.
  @Cell private var unblocked: [FileStatus.Identity: [IOFile]] = [:]

  /// A channel of a descriptor.
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
    return lock.withLock {
      let file = file(descriptor, kind, status)
      let channel = IOChannel(
        isRandom: isRandom, file: file, origin: place.origin, queue: queue,
        leavesAlone: leavesAlone, cleanup: cleanup)
      let refusal = channel.refusal(kind)
      attach(channel, refusal: refusal != 0 ? refusal : place.error)
      return channel
    }
  }

  /// A channel of a file that is opened when there is something to do.
  func channel(
    _ path: IOFile.Path, isRandom: Bool, queue: DispatchQueue, cleanup: @escaping (Int32) -> Void
  ) -> IOChannel {
    let file = IOFile(path: path)
    let channel = IOChannel(isRandom: isRandom, file: file, queue: queue, cleanup: cleanup)
    // The look, which its cleanup handler waits for.
    channel.unfinished = 1
    attach(channel, refusal: 0)
    // A file system may take its time.
    DispatchQueue.global().asyncUnsafe { file.look(for: channel) }
    return channel
  }

  /// One more channel of what another one is for.
  func channel(
    with other: IOChannel, isRandom: Bool, queue: DispatchQueue, cleanup: @escaping (Int32) -> Void
  ) -> IOChannel {
    lock.withLock {
      let file = other.file
      let (error, kind, descriptor) = file.lock.withLock {
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

  /// In a child that was forked: the parent's channels have its descriptors.
  private func afterFork() {
    lock.withLock {
      files = [:]
      unblocked = [:]
    }
  }

  private func attach(_ channel: IOChannel, refusal: Int32) {
    let file = channel.file
    file.lock.withLock {
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

  /// With the lock held. The number may have been closed under its channels and now stand for something else: that is
  /// another file.
  private func file(_ descriptor: Int32, _ kind: FileKind, _ status: FileStatus) -> IOFile {
    if let known = files[descriptor], known.identity?.isSameFile(as: status) == true {
      return known
    }
    if let lost = files[descriptor] {
      forget(lost)
      lost.lock.withLock { lost.lose() }
    }
    let made = IOFile(descriptor, kind: kind, identity: status)
    // Files are moved by threads that may sleep. All else must not keep one.
    if kind != .stored && kind != .directory {
      made.restoresBlocking = Transfer.makeNonBlocking(descriptor)
      unblocked[status.identity, default: []].append(made)
    }
    files[descriptor] = made
    return made
  }

  /// The last channel of `file` has left, unless another one has come meanwhile. Any thread, without locks.
  func release(_ file: IOFile) {
    let leavers = lock.withLock { () -> [IOChannel]? in
      let leavers = file.lock.withLock { () -> [IOChannel]? in
        guard file.channels.isEmpty && !file.isOver else { return nil }
        file.isOver = true
        file.stopListening()
        defer { file.leavers = [] }
        return file.leavers
      }
      if leavers != nil { giveBack(file) }
      return leavers
    }
    for channel in leavers ?? [] { channel.submitCleanup(0) }
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
    // Another number of the same open file, dup(2), must not come to block under its channels: whoever leaves last
    // takes the flag back.
    if let heir = others.first(where: { Transfer.shareFlags($0.descriptor, file.descriptor) }) {
      heir.restoresBlocking = true
    } else {
      Transfer.makeBlocking(file.descriptor)
    }
  }

  /// With the lock held. Returns who else has that file, by other numbers.
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
  /// Whether there is such a file, or can be one.
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

  /// An operation or a barrier is there. On a thread that may sleep.
  func openPath() {
    guard let path else { return }
    let opened = Blocking.announced(currentThread()) {
      Transfer.open(path.path, path.flags, path.mode)
    }
    var kind = Result<FileKind, SystemError>.success(.other)
    if case .success(let descriptor) = opened { kind = FileKind.of(descriptor) }
    let isLate = lock.withLock {
      // All that wanted it was stopped meanwhile.
      if isOver { return true }
      switch (opened, kind) {
      case (.success(let descriptor), .success(let kind)):
        self.descriptor = descriptor
        self.kind = kind
        stage = .open
        // The path may stand for another kind of file by now. The channels were made, so that is an
        // error of their operations, as one of open(2) is.
        for channel in channels where channel.error == 0 {
          let refusal = channel.refusal(kind)
          if refusal == 0 { continue }
          channel.error = refusal
          endQueued(of: channel, refusal)
        }
      case (.failure(let error), _), (.success, .failure(let error)):
        // The channels were made, so the error is their operations' alone: cleanup handlers get 0.
        stage = .failed(error.number)
      }
      advance()
      return false
    }
    if isLate, case .success(let descriptor) = opened { Transfer.close(descriptor) }
  }
}

extension IOFile.Path {
  fileprivate var folder: [CChar] {
    let slash = CChar(UInt8(ascii: "/"))
    guard let last = path.lastIndex(of: slash), last != path.startIndex else { return [slash, 0] }
    return path[..<last] + [0]
  }
}
