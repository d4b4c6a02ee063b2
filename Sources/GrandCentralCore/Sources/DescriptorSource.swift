// Room: Sources/DescriptorSource. Events of a descriptor: something to read, room to write.
// How much there is to read is asked of the kernel when the handler asks for it: a system call, and most handlers just
// read. Only where the answer decides whether the handler is to be called at all is it asked for before: when the other
// side has hung up, or another source of the same descriptor may have read it all. When the handler has returned the
// descriptor is waited for again.

private final class DescriptorSource: DispatchSource, @unchecked Sendable {
  private let entry: DescriptorEntry
  private var descriptor: Int32 { entry.descriptor }
  /// Guarded by the lock: with whom the entry is, and whether it is to be anywhere.
  @Cell private var shared: SharedDescriptor?
  @Cell private var isStopped = false
  /// The lane's: how the event that is being handled is to be answered.
  @Cell private var answer = SharedDescriptor.Answer.waits

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

  deinit { stop() }

  override var handleValue: UInt { UInt(descriptor) }

  override func startMonitoring() {
    let thread = currentThread()
    let table = Events.shared.descriptors
    while true {
      let candidate = table.shared(descriptor)
      let isLate = lock.withLock {
        // Before the entry is told anything: what it is told is taken from there.
        if !isStopped { shared = candidate }
        return isStopped
      }
      if isLate { return }
      guard candidate.join(entry, on: thread) else {
        table.forget(candidate)
        continue
      }
      // stop() may have come before the entry had joined.
      if lock.withLock({ isStopped }) { candidate.leave(entry) }
      return
    }
  }

  override func stopMonitoring() { stop() }

  private func stop() {
    let left = lock.withLock {
      isStopped = true
      defer { shared = nil }
      return shared
    }
    left?.leave(entry)
  }

  override func eventCame(on thread: ThreadContext) { signal(from: thread) }

  // MARK: On the lane

  override func takeData() -> UInt64? {
    guard let told = lock.withLock({ shared })?.told(entry) else { return nil }
    let isRead = entry.direction == .read
    let taken =
      isRead ? takeReadable(told.seen, isSure: told.isSure) : takeWritable(told.seen)
    if taken == nil { answerEvent() }
    return taken
  }

  private func takeReadable(_ seen: Readiness, isSure: Bool) -> UInt64? {
    answer = .waits
    let hasHungUp = !seen.isDisjoint(with: [.readHangUp, .hangUp, .error])
    if isSure && !hasHungUp { return Self.toBeAsked }
    let count = DescriptorSpace.readable(descriptor)
    if let count, count > 0 { return UInt64(count) }
    if hasHungUp {
      answer = .hasEnded
      return 0
    }
    // It was read by somebody else; or it is of a kind that has no number of bytes; or an empty datagram waits.
    let now = ReadinessSet.now(descriptor, [.readable, .readHangUp])
    if now.isEmpty { return nil }
    if !now.isDisjoint(with: [.readHangUp, .hangUp, .error]) { answer = .hasEnded }
    if count == 0, DescriptorSpace.isRegular(descriptor) { answer = .hasEnded }
    if count == nil, DescriptorSpace.isDirectory(descriptor) { answer = .hasEnded }
    return count == nil ? 1 : 0
  }

  private func takeWritable(_ seen: Readiness) -> UInt64? {
    guard seen.isDisjoint(with: [.hangUp, .error]) else {
      answer = .hasEnded
      return 0
    }
    answer = .mayBeReady
    return Self.toBeAsked
  }

  override func askForData() -> UInt64 {
    switch entry.direction {
    case .read: UInt64(DescriptorSpace.readable(descriptor) ?? 1)
    case .write: UInt64(DescriptorSpace.writable(descriptor))
    }
  }

  override func eventWasHandled(on thread: ThreadContext) { answerEvent() }

  private func answerEvent() {
    let thread = currentThread()
    lock.withLock { shared }?.answer(entry, answer, on: thread)
  }
}

/// A source whose events are that a descriptor can be read.
///
/// In the event handler `data` is the number of bytes that can be read without waiting, as far as the kernel tells;
/// 1 for descriptors without bytes to count, as sockets that listen. It is 0 when the other side has hung up or an
/// error has come: that is told once, and then again only if something new comes. Regular files and others that can
/// always be read are told of until their end is reached.
/// - Source: Apple, Dispatch, `DispatchSourceRead`.
public protocol DispatchSourceRead: DispatchSourceProtocol {}

/// A source whose events are that a descriptor can be written.
///
/// In the event handler `data` is about the number of bytes that can be written without waiting; 0 when the other side
/// has hung up or an error has come, which is told once. As long as there is room the handler runs again and again:
/// suspend the source while there is nothing to write.
/// - Source: Apple, Dispatch, `DispatchSourceWrite`.
public protocol DispatchSourceWrite: DispatchSourceProtocol {}

extension DispatchSource: DispatchSourceRead, DispatchSourceWrite {
  /// Makes a source that watches a descriptor for something to read: see `DispatchSourceRead`.
  ///
  /// Any number of sources may watch one descriptor. Cancel them before it is closed, and close it in the cancel
  /// handler: the sources of a descriptor that is closed earlier hear no more, and that is reported
  /// on standard error if the environment asks for it (`GRANDCENTRAL_REPORTS=all`).
  ///
  /// - Parameters:
  ///   - fileDescriptor: not negative, or the process stops with a message. Make it non-blocking.
  ///   - queue: where the handlers run; `nil`: the default global queue.
  /// - Source: `DISPATCH_SOURCE_TYPE_READ`, `dispatch_source_create(3)`; `epoll(7)`.
  public class func makeReadSource(
    fileDescriptor: Int32, queue: DispatchQueue? = nil
  ) -> any DispatchSourceRead {
    DescriptorSource(.read, fileDescriptor, queue: queue)
  }

  /// Makes a source that watches a descriptor for room to write: see `DispatchSourceWrite`, and `makeReadSource`
  /// for what holds of descriptors.
  ///
  /// - Parameters:
  ///   - fileDescriptor: not negative, or the process stops with a message. Make it non-blocking.
  ///   - queue: where the handlers run; `nil`: the default global queue.
  /// - Source: `DISPATCH_SOURCE_TYPE_WRITE`, `dispatch_source_create(3)`; `epoll(7)`.
  public class func makeWriteSource(
    fileDescriptor: Int32, queue: DispatchQueue? = nil
  ) -> any DispatchSourceWrite {
    DescriptorSource(.write, fileDescriptor, queue: queue)
  }
}
