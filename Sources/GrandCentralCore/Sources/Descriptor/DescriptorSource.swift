// Room: Sources/Descriptor/DescriptorSource. Sources that report that a descriptor is readable or
// writable.
// The kernel is asked for the number of bytes when the handler reads `data`: that is a system call,
// and most handlers just read the descriptor. It is asked earlier only if the answer decides
// whether the handler is called: after a hang-up, or if another source of the same descriptor may
// have read everything. When the handler has returned, the descriptor is waited for again.

private final class DescriptorSource: DispatchSource, @unchecked Sendable {
  private let entry: DescriptorEntry
  private var descriptor: Int32 { entry.descriptor }
  /// What the entry joins. Written under the lock, before the entry has joined and so before it can
  /// be notified; then it stays. The lane reads it without the lock after it has seen the entry
  /// notified: the notifying transition comes after the write. Retained; the lane need not retain
  /// it once more for an answer.
  @Cell private var shared: Unmanaged<SharedDescriptor>?
  /// Guarded by the lock, and written on the lane only. Made at the first end of a regular file.
  @Cell private var growth: FileGrowth?
  /// Used on the lane only: how to answer the event that is being handled.
  @Cell private var answer = SharedDescriptor.Answer.waits
  /// Used on the lane only: the event is the end of a regular file, which may grow.
  @Cell private var isAtEndOfFile = false

  init(_ direction: DescriptorEntry.Direction, _ descriptor: Int32, queue: DispatchQueue?) {
    require(
      descriptor >= 0,
      "A source was made for descriptor \(descriptor), which is none. Check what open() or socket() returned."
    )
    entry = DescriptorEntry(
      direction, of: descriptor, queueLabel: queue?.label ?? "the default global queue")
    super.init(queue: queue)
    entry.listener = Unmanaged.passUnretained(self)
  }

  override var laneLabel: String {
    entry.direction == .read ? "read source" : "write source"
  }

  deinit {
    stop()
    $shared?.release()
  }

  override var handleValue: UInt { UInt(descriptor) }

  override func startMonitoring() {
    let thread = currentThread()
    let table = Reactor.shared.descriptors
    while !isCancelled {
      let candidate = table.shared(descriptor)
      let before = lock.withLock {
        let before = shared
        shared = .passRetained(candidate)
        return before
      }
      before?.release()
      // If cancel() stops the source meanwhile, watch() stops it again.
      if candidate.join(entry, on: thread) { return }
      table.forget(candidate)
    }
  }

  override func stopMonitoring() { stop() }

  private func stop() {
    let (shared, growth) = lock.withLock { (self.shared?.takeUnretainedValue(), self.growth) }
    shared?.leave(entry)
    growth?.end()
  }

  override func willResume() { reportEndAgain() }

  /// The new handler does not know of an end that was reported to the one before.
  override func eventHandlerWasSet() { reportEndAgain() }

  private func reportEndAgain() {
    let shared = lock.withLock { self.shared?.takeUnretainedValue() }
    shared?.resume(entry, on: currentThread())
  }

  override func eventCame(on thread: ThreadContext) { signal(from: thread) }

  /// Whether the descriptor is a regular file: 0 before the source has looked, 1 no, 2 yes.
  // relaxed: all threads find the same.
  private let fileWord = Atomic<UInt8>(0)
  private var isFile: Bool {
    let known = fileWord.load(ordering: .relaxed)
    if known != 0 { return known == 2 }
    let isFile = DescriptorSpace.isRegular(descriptor)
    fileWord.store(isFile ? 2 : 1, ordering: .relaxed)
    return isFile
  }

  /// The bytes that can be read; `nil` if the kernel does not say.
  private var readable: Int? {
    isFile ? DescriptorSpace.restOfFile(descriptor) : DescriptorSpace.readable(descriptor)
  }

  // MARK: On the lane

  override func takeData() -> UInt64? {
    guard let notified = entry.notification else { return nil }
    let isRead = entry.direction == .read
    let taken =
      isRead ? takeReadable(notified.seen, isSure: notified.isSure) : takeWritable(notified.seen)
    if taken == nil { answerEvent(on: currentThread()) }
    return taken
  }

  private func takeReadable(_ seen: Readiness, isSure: Bool) -> UInt64? {
    answer = .waits
    isAtEndOfFile = false
    let hasHungUp = !seen.isDisjoint(with: .ends)
    if !hasHungUp { entry.noteNoError() }
    if isSure && !hasHungUp { return Self.toBeAsked }
    // Before the program can resume the source in its handler.
    entry.wasResumed.store(false, ordering: .relaxed)
    let count = readable
    if let count, count > 0 { return UInt64(count) }
    if hasHungUp {
      answer = .hasHungUp
      return 0
    }
    // Another reader was faster; or this kind of descriptor has no number of bytes; or an empty
    // datagram is waiting.
    let now = ReadinessSet.now(descriptor, [.readable, .readHangUp])
    if now.isEmpty { return nil }
    if !now.isDisjoint(with: .ends) {
      // Counted again: a peer may have sent bytes since the first count, before it hung up.
      if let count = readable, count > 0 { return UInt64(count) }
      answer = .hasHungUp
    }
    if count == 0, isFile {
      answer = .hasEnded
      isAtEndOfFile = true
    }
    if count == nil, DescriptorSpace.isDirectory(descriptor) { answer = .hasEnded }
    return count == nil || !mayBeAtEnd(now) ? 1 : 0
  }

  /// Whether a descriptor without bytes to read, which is ready as `now` says, may be at its end. A
  /// socket that is ready without a hang-up has an empty datagram, or a connection to accept.
  private func mayBeAtEnd(_ now: Readiness) -> Bool {
    !now.isDisjoint(with: .ends)
      || now.contains(.readable) && !DescriptorSpace.isSocket(descriptor)
  }

  private func takeWritable(_ seen: Readiness) -> UInt64? {
    guard seen.isDisjoint(with: [.hangUp, .error]) else {
      entry.wasResumed.store(false, ordering: .relaxed)
      answer = .hasHungUp
      return 0
    }
    entry.noteNoError()
    answer = .mayBeReady
    return Self.toBeAsked
  }

  override func askForData() -> UInt64 {
    switch entry.direction {
    case .read: readableNow()
    case .write: UInt64(DescriptorSpace.writable(descriptor))
    }
  }

  /// The number of bytes for a handler that was called because there were some. It may have read
  /// them already, so that there are none is an end only if the descriptor says so.
  private func readableNow() -> UInt64 {
    guard let count = readable else { return 1 }
    if count > 0 { return UInt64(count) }
    if !mayBeAtEnd(ReadinessSet.now(descriptor, [.readable, .readHangUp])) { return 1 }
    // Counted again, as in takeReadable().
    return UInt64(readable ?? 0)
  }

  override func eventWasHandled(on thread: ThreadContext) { answerEvent(on: thread) }

  private func answerEvent(on thread: ThreadContext) {
    // The handler has a successor, which was set before the event was taken: reportEndAgain() found
    // nothing to renew.
    if answer != .waits, sourceState.load(ordering: .relaxed).isReplaced {
      answer = .waits
      isAtEndOfFile = false
    }
    // SAFETY: the source keeps it alive, and writes it no more.
    shared?._withUnsafeGuaranteedRef { $0.answer(entry, answer, on: thread) }
    if isAtEndOfFile { awaitGrowth(on: thread) }
  }

  /// Notifies the source again once its file has bytes after the end.
  private func awaitGrowth(on thread: ThreadContext) {
    // The stage is this thread's own answer, unless the file has grown, the source was cancelled or
    // the process has forked since; then there is nothing to wait for.
    guard entry.stage == .ended, let shared else { return }
    if let growth { return growth.look(on: thread) }
    let made = FileGrowth(for: entry, of: shared.takeUnretainedValue())
    lock.withLock { growth = made }
    withAmpleStack { made.begin(on: thread) }
    // If stop() ran before `growth` was set, it came with a cancellation that shows here. If it ran
    // later, it has ended the watch, or has made begin() place none.
    if isCancelled { made.end() }
  }
}

/// A source whose events report that a descriptor is readable.
///
/// In the event handler, `data` is the number of bytes that can be read without blocking, as far as
/// the kernel knows; 1 for descriptors without bytes to count, such as listening sockets, and for
/// an empty datagram. It is 0 only at an end: after a hang-up or an error. That is reported once,
/// and again after each `resume()`, to each new event handler, or if something new comes.
///
/// Regular files and others that are always readable cause events until their end is reached. A
/// regular file causes events again when it grows beyond its position, up to the new end. Growth by
/// another machine is not reported, nor a position that is moved back. If the kernel cannot watch
/// the file (no /proc, no permission to read, no watches left: `inotify(7)`), the source is silent
/// after the first end.
///
/// - Source: Apple, Dispatch, `DispatchSourceRead`.
public protocol DispatchSourceRead: DispatchSourceProtocol {}

/// A source whose events report that a descriptor is writable.
///
/// In the event handler, `data` is roughly the number of bytes that can be written without
/// blocking; 0 after a hang-up or an error, which is reported once, and again after each
/// `resume()` and to each new event handler. If a call has returned the error, the source
/// continues, unless it finds another one after each of 16 events in a few milliseconds. While
/// there is room, the handler runs again and again: suspend the source while there is nothing to
/// write.
///
/// - Source: Apple, Dispatch, `DispatchSourceWrite`.
public protocol DispatchSourceWrite: DispatchSourceProtocol {}

extension DispatchSource: DispatchSourceRead, DispatchSourceWrite {
  /// Makes a source that reports that a descriptor is readable: see `DispatchSourceRead`.
  ///
  /// Any number of sources may watch one descriptor. Cancel them before it is closed, and close it
  /// in the cancel handler. If it is closed earlier, its sources get no more events, and that is
  /// reported on standard error if the environment asks for it (`GRANDCENTRAL_REPORTS=all`).
  ///
  /// - Parameters:
  ///   - fileDescriptor: an open descriptor, best in non-blocking mode. Stops the process with a
  ///     message if it is negative.
  ///   - queue: the queue that the handlers run on; `nil`: the default global queue.
  /// - Returns: the source, inactive.
  /// - Source: `DISPATCH_SOURCE_TYPE_READ`, `dispatch_source_create(3)`; `epoll(7)`.
  public class func makeReadSource(
    fileDescriptor: Int32, queue: DispatchQueue? = nil
  ) -> any DispatchSourceRead {
    DescriptorSource(.read, fileDescriptor, queue: queue)
  }

  /// Makes a source that reports that a descriptor is writable: see `DispatchSourceWrite`.
  ///
  /// The rules for descriptors are those of `makeReadSource`.
  ///
  /// - Parameters:
  ///   - fileDescriptor: an open descriptor, best in non-blocking mode. Stops the process with a
  ///     message if it is negative.
  ///   - queue: the queue that the handlers run on; `nil`: the default global queue.
  /// - Returns: the source, inactive.
  /// - Source: `DISPATCH_SOURCE_TYPE_WRITE`, `dispatch_source_create(3)`; `epoll(7)`.
  public class func makeWriteSource(
    fileDescriptor: Int32, queue: DispatchQueue? = nil
  ) -> any DispatchSourceWrite {
    DescriptorSource(.write, fileDescriptor, queue: queue)
  }
}
