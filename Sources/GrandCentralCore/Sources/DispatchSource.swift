// Room: Sources/DispatchSource. Something that happens outside of the queues, as work on a queue.
// A source is a serial lane of its own that targets the queue it was made with. So it has all that lanes have:
// its handlers never overlap, it is made inactive, can be suspended, gets another target in order with its
// events, and its place in deadlock messages. What comes to the lane:
//   the registration  if there is a handler for it: the first thing to run once the source is active. Without one the
//                     thread that activates the source begins to watch itself
//   an event          one node at a time, however much has happened: see SourceState
//   the cancellation  one node, the last thing that calls a handler
// Whoever holds the last reference to a source that is not cancelled ends it: no handler is called any more,
// the cancel handler neither. Nodes on the lane hold the source. An inactive source whose last reference goes is a
// client's mistake, which the lane reports.

/// Runs handlers on a queue when something happens: a timer fires, data is merged, …
///
/// Sources are made inactive. Set the handlers, then call `activate()`.
///
/// ```swift
/// let timer = DispatchSource.makeTimerSource(queue: .main)
/// timer.setEventHandler { print("tick") }
/// timer.schedule(deadline: .now(), repeating: .seconds(1))
/// timer.activate()
/// ```
/// - Source: `dispatch/source.h` of the public reference.
// SAFETY: the state is atomic, handlers and the timer's settings have locks.
public class DispatchSource: _Lane, @unchecked Sendable {
  /// The event handler's QoS, packed: events come to the queue as items of that class. Relaxed: a handler counts from
  /// some event on.
  final let eventQoS = Atomic<UInt32>(0)
  /// What the event handler that runs, or ran last, is told.
  private let current = Atomic<UInt64>(0)
  @Cell final var rare: RareHandlers?
  private let sourceState = Atomic<UInt32>(0)
  /// Guards the handlers, and what kinds of sources add.
  final let lock = Lock()
  @Cell final var eventHandler: SourceHandler?
  /// The source has been cancelled and its cancel handler taken: nothing is called any more.
  @Cell final var isOver = false
  // In the order of their sizes: there may be a timer for each request.

  init(queue: DispatchQueue?, isRegistered: Bool = true) {
    super.init(
      kind: .serial, qos: .unspecified, target: .named(queue), isInactive: true,
      isRegistered: isRegistered)
    withExtendedLifetime(queue) {}
  }

  /// An event that is ready again at once must not keep the other items of the queue waiting.
  override final var drainQuota: Int { 1 }
  override final var defaultTarget: Lane { Runtime.shared.root(.unspecified) }

  /// The node that was to take what has happened is not on the lane any more.
  override func forgetParent() {
    sourceState.bitwiseAnd(~SourceState.queued, ordering: .relaxed)
  }

  /// Starts the source if it was never active; otherwise takes back one `suspend()`.
  override public final func resume() {
    resumeLane(activates: true, whenActivated: start)
  }

  override public final func activate() {
    activateLane()
    start()
  }

  // MARK: What kinds of sources do

  /// Before the registration is queued, if there is a handler for it.
  func willRegister() {}
  /// Once, when the source is active; any thread.
  func startMonitoring() {}
  /// Any thread: nothing more is to be signalled. May be called more than once, and before the start.
  func stopMonitoring() {}
  /// On the lane: what an event is told. `nil`: nothing has happened after all, and no handler is called.
  func takeData() -> UInt64? { nil }
  /// In the place of data that `askForData` gives when somebody wants to know. Where it is data like any other, it is
  /// what is given.
  static var toBeAsked: UInt64 { .max }
  func askForData() -> UInt64 { Self.toBeAsked }
  /// On the lane: the handler of an event has returned.
  func eventWasHandled(on thread: ThreadContext) {}
  /// User data.
  func mergeData(_ data: UInt, as asked: DataMerge) {
    clientFault("\(asked)(data:) on a \(laneLabel). Only sources of user data take any.")
  }
  /// User data, merged as the source was made to.
  package func mergeData(_ data: UInt) {
    clientFault("Data was merged into a \(laneLabel). Only sources of user data take any.")
  }
  /// Timers.
  func schedule(_ limit: TimeLimit, interval: UInt64, leeway: UInt64) {
    clientFault("schedule() on a \(laneLabel). Only timer sources have a schedule.")
  }
  var handleValue: UInt { 0 }
  var maskValue: UInt { 0 }

  // MARK: The beginning

  private func start() {
    // acquiringAndReleasing: with cancel(): one of the two sees the other.
    let was = SourceState(
      rawValue: sourceState.bitwiseOr(SourceState.started, ordering: .acquiringAndReleasing)
        .oldValue)
    if was.isStarted || was.isCancelled { return }
    if was.mayRegister && hasRegistrationHandler {
      willRegister()
      queueRegistration()
    } else {
      watch()
    }
    if was.isQueued { queueEvent(from: currentThread()) }
  }

  private func watch() {
    if isCancelled { return }
    startMonitoring()
    // Between the two looks cancel() may have stopped what had not begun.
    if isCancelled { stopMonitoring() }
  }

  private func queueRegistration() {
    submitRetained(from: currentThread()) { raw, thread in
      // SAFETY: the node's reference, which this takes.
      let source = DispatchSource.taken(from: raw, thread)
      source._withUnsafeGuaranteedRef {
        $0.watch()
        $0.runRegistration(on: thread)
      }
      source.release()
    }
  }

  /// For a handler that is set when the source has begun to watch.
  private func queueLateRegistration() {
    submitRetained(from: currentThread()) { raw, thread in
      // SAFETY: as above.
      let source = DispatchSource.taken(from: raw, thread)
      source._withUnsafeGuaranteedRef { $0.runRegistration(on: thread) }
      source.release()
    }
  }

  private func runRegistration(on thread: ThreadContext) {
    if !isCancelled { takeRegistrationHandler()?.run(of: self, on: thread) }
  }

  /// A handler came to a source that had none. Any thread.
  final func handlerWasAdded(_ role: SourceRole) {
    // As for a source that begins to watch just then; and what has happened before counts as having happened now.
    switch role {
    case .registration:
      // acquiringAndReleasing: with start(), one of the two sees the other.
      let was = SourceState(
        rawValue: sourceState.bitwiseOr(SourceState.registers, ordering: .acquiringAndReleasing)
          .oldValue)
      if was.isStarted { queueLateRegistration() }
    case .event:
      if SourceState(rawValue: sourceState.load(ordering: .acquiring)).isStarted {
        signal(from: currentThread())
      }
    case .cancel: break
    }
  }

  // MARK: Events

  /// Something has happened, and is there to be found by takeData(). Any thread.
  final func signal(from thread: ThreadContext) {
    // releasing: what the caller has merged; acquiring pairs with the clearing in runEvent().
    let was = SourceState(
      rawValue: sourceState.bitwiseOr(SourceState.queued, ordering: .acquiringAndReleasing).oldValue
    )
    if was.isQueued || was.isCancelled || !was.isStarted { return }
    queueEvent(from: thread)
  }

  private func queueEvent(from thread: ThreadContext) {
    let qos = PackedQoS(rawValue: eventQoS.load(ordering: .relaxed))
    submitRetained(from: thread, qos: qos) { raw, thread in
      // SAFETY: the node's reference, which this takes.
      let source = DispatchSource.taken(from: raw, thread)
      source._withUnsafeGuaranteedRef { $0.runEvent(on: thread) }
      source.release()
    }
  }

  private func runEvent(on thread: ThreadContext) {
    // Before the data is taken: see SourceState.
    let seen = SourceState(
      rawValue: sourceState.bitwiseAnd(~SourceState.queued, ordering: .acquiringAndReleasing)
        .oldValue)
    if seen.isCancelled { return }
    // Without one, what has happened stays where it is until there is one.
    let (handler, isUnregistered) = forEvent
    guard let handler, let data = takeData() else { return }
    // An event that comes just when the source is started may get in line before the registration. It is told since
    // the source watches, or has nothing to watch; so here is the place.
    if isUnregistered {
      takeRegistrationHandler()?.run(of: self, on: thread)
      if isCancelled { return }
    }
    // relaxed: for the handler on this thread; others see some value.
    current.store(data, ordering: .relaxed)
    handler.run(of: self, on: thread)
    eventWasHandled(on: thread)
  }

  private func runCancellation(on thread: ThreadContext) {
    let (cancel, _, _) = endHandlers()
    cancel?.run(of: self, on: thread)
  }

  private func submitRetained(
    from thread: ThreadContext, qos: PackedQoS = .unspecified, _ entry: @escaping WorkNode.Entry
  ) {
    let node = NodeCache.take(thread)
    node.context = Unmanaged.passRetained(self).toOpaque()
    node.traits = WorkTraits(qos: qos)
    node.entry = entry
    submit(node, from: thread)
  }

  private static func taken(
    from raw: UnsafeMutableRawPointer, _ thread: ThreadContext
  ) -> Unmanaged<DispatchSource> {
    let node = WorkNode(raw)
    let source = Unmanaged<DispatchSource>.fromOpaque(node.context.unsafelyUnwrapped)
    NodeCache.put(node, thread)
    return source
  }
}

// MARK: What every source can do

extension DispatchSource: DispatchSourceProtocol {
  public final func cancel() {
    // releasing: what the caller did before is seen by the cancel handler, which the lane's push orders too.
    let was = SourceState(
      rawValue: sourceState.bitwiseOr(
        SourceState.cancelled, ordering: .acquiringAndReleasing
      ).oldValue)
    if was.isCancelled { return }
    stopMonitoring()
    if was.isStarted && endsInPlace() { return }
    submitRetained(from: currentThread()) { raw, thread in
      let source = DispatchSource.taken(from: raw, thread)
      // SAFETY: the node's reference, which this takes.
      source._withUnsafeGuaranteedRef { $0.runCancellation(on: thread) }
      source.release()
    }
  }

  public final var _source: DispatchSource { self }

  public final var isCancelled: Bool {
    SourceState(rawValue: sourceState.load(ordering: .acquiring)).isCancelled
  }

  public final var data: UInt {
    let seen = current.load(ordering: .relaxed)
    guard seen == Self.toBeAsked else { return UInt(truncatingIfNeeded: seen) }
    let asked = askForData()
    // relaxed: as in runEvent(). Once for each event, so that it does not change while the handler reads.
    current.store(asked, ordering: .relaxed)
    return UInt(truncatingIfNeeded: asked)
  }
  public final var handle: UInt { handleValue }
  public final var mask: UInt { maskValue }
}
