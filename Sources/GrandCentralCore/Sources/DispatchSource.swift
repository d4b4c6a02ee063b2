// Room: Sources/DispatchSource. Turns events from outside the queues into work on a queue.
// A source is a serial lane of its own that targets the queue it was made with. So it behaves like
// every lane: its handlers never overlap; it starts inactive; it can be suspended; it changes its
// target in order with its events; and deadlock messages name it. The lane receives:
//   the registration  if there is a handler for it: the first node to run in an active source.
//                     Without one, the activating thread starts the monitoring
//   an event          one node at a time, however much has happened: see SourceState
//   the cancellation  one node, the last one that calls a handler
// Releasing the last reference to a source that is not cancelled ends it: it calls no handler any
// more, not even the cancel handler. Nodes on the lane retain the source. Releasing the last
// reference to an inactive source is a client's mistake, which the lane reports.

/// Runs handlers on a queue when events happen: a timer fires, a descriptor becomes readable, data
/// is merged, and so on.
///
/// A source starts inactive. Set its handlers, then call `activate()`.
///
/// ```swift
/// let timer = DispatchSource.makeTimerSource(queue: .main)
/// timer.setEventHandler { print("tick") }
/// timer.schedule(deadline: .now(), repeating: .seconds(1))
/// timer.activate()
/// ```
/// - Source: `dispatch/source.h` of the public reference.
// SAFETY: the words are atomic. The source's lock guards the handlers, except that the lane owns an
// adopted event handler (SourceState), and what kinds of sources add, such as a timer's setting.
public class DispatchSource: _Lane, @unchecked Sendable {
  /// The event handler's QoS, packed: events reach the queue as items of that QoS. Accessed
  /// relaxed: a new handler applies from some later event on.
  final let eventQoS = Atomic<UInt32>(0)
  /// The data of the event handler that runs, or ran last.
  private let current = Atomic<UInt64>(0)
  @Cell final var rare: RareHandlers?
  final let sourceState = Atomic<SourceState>(.inactive)
  /// Guards the handlers, and state that kinds of sources add.
  final let lock = Lock()
  /// Guarded by the lock, or while it is adopted by the lane: see SourceState.
  @Cell final var eventHandler: SourceHandler?
  /// The source is cancelled and its cancel handler taken: no handler is called any more.
  @Cell final var isOver = false
  // The properties are in the order of their sizes, because a program may make a timer per request.

  init(queue: DispatchQueue?, isRegistered: Bool = true) {
    super.init(
      kind: .serial, qos: .unspecified, target: .named(queue), isInactive: true,
      isRegistered: isRegistered)
    withExtendedLifetime(queue) {}
  }

  /// One item at a time, so that an event which is ready again at once does not delay other items
  /// of the queue.
  override final var drainQuota: Int { 1 }
  override final var defaultTarget: Lane { Runtime.shared.root(.unspecified) }

  override func dropEvents() { forgetEvent() }

  /// Undoes one `suspend()`; activates the source if it was never active.
  ///
  /// Call from any thread. Stops the process with a message if the source is active and not
  /// suspended.
  ///
  /// - Source: `dispatch_resume(3)`.
  override public final func resume() {
    willResume()
    resumeLane(activates: true, whenActivated: start)
  }

  /// Activates an inactive source: from then on it receives events.
  ///
  /// Call from any thread. Has no effect on a source that is active.
  ///
  /// - Source: `dispatch_activate` in `dispatch/object.h` of the public reference.
  override public final func activate() {
    activateLane()
    start()
  }

  // MARK: Hooks for kinds of sources

  /// Called before the registration is queued, if there is a registration handler.
  func willRegister() {}
  /// Starts to monitor. Called once, when the source is active; any thread.
  func startMonitoring() {}
  /// Called before each `resume()`, while the source is still suspended or inactive. Any thread.
  func willResume() {}
  /// Called when a started source has got an event handler, or another one. Any thread.
  func eventHandlerWasSet() {}
  /// Stops all later signals. Any thread; may be called more than once, and before the start.
  func stopMonitoring() {}
  /// Called before the cancellation is queued, after the monitoring has stopped.
  func willQueueCancellation() {}
  /// Takes the event's data, on the lane. `nil`: nothing has happened; no handler is called.
  func takeData() -> UInt64? { nil }
  /// Stands in for data that `askForData` fetches when the handler reads it. A source that does not
  /// fetch returns it unchanged, so there it is ordinary data.
  static var toBeAsked: UInt64 { .max }
  func askForData() -> UInt64 { Self.toBeAsked }
  /// Called on the lane when the event handler has returned.
  func eventWasHandled(on thread: ThreadContext) {}
  /// Merges user data by the given operation.
  func mergeData(_ data: UInt, as asked: DataMerge) {
    clientFault("\(asked)(data:) on a \(laneLabel). Only sources of user data take any.")
  }
  /// Merges user data by the source's own operation.
  package func mergeData(_ data: UInt) {
    clientFault("Data was merged into a \(laneLabel). Only sources of user data take any.")
  }
  /// Sets a timer's schedule, in nanoseconds.
  func schedule(_ limit: TimeLimit, interval: UInt64, leeway: UInt64) {
    clientFault("schedule() on a \(laneLabel). Only timer sources have a schedule.")
  }
  var handleValue: UInt { 0 }
  var maskValue: UInt { 0 }

  // MARK: Start

  private func start() {
    // Pairs with cancel(): both exchange one word, so the later one sees the earlier one.
    let sends: Bool
    switch sourceState.transition({ $0.starting() }) {
    case nil, .isOver: return
    case .monitors(let queued):
      sends = queued
      watch()
    case .registers(let queued):
      sends = queued
      if hasRegistrationHandler {
        willRegister()
        queueRegistration()
      } else {
        watch()
      }
    }
    if sends { queueEvent(from: currentThread()) }
  }

  private func watch() {
    if isCancelled { return }
    withAmpleStack { startMonitoring() }
    // cancel() may have stopped the monitoring before it began.
    if isCancelled { withAmpleStack { stopMonitoring() } }
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

  /// Queues a registration handler that was set after the monitoring began.
  final func queueLateRegistration() {
    submitRetained(from: currentThread()) { raw, thread in
      // SAFETY: the node's reference, which this takes.
      let source = DispatchSource.taken(from: raw, thread)
      source._withUnsafeGuaranteedRef { $0.runRegistration(on: thread) }
      source.release()
    }
  }

  private func runRegistration(on thread: ThreadContext) {
    if !isCancelled { takeRegistrationHandler()?.run(of: self, on: thread) }
  }

  // MARK: Events

  /// Queues an event: something has happened, and takeData() finds it. Any thread.
  final func signal(from thread: ThreadContext) {
    // Publishes what the caller has merged; pairs with the transition in runEvent().
    if sourceState.transition({ $0.signalled() }) == true { queueEvent(from: thread) }
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
    // The bit is cleared before the data is taken: see SourceState.
    let handler: SourceHandler?
    var isUnregistered = false
    // A replaced handler is released when this event is over. Its captures may end with it, and
    // what they do (cancel the source, remove or replace the handler) comes before no handler then.
    var replaced: SourceHandler?
    defer { withExtendedLifetime(replaced) {} }
    switch sourceState.transition({ $0.beginningEvent() }) {
    case nil, .stops: return
    case .runs: handler = eventHandler
    case .runsAfterLook: (handler, isUnregistered) = adoptHandlers(releasing: &replaced)
    }
    // Without a handler, the data stays where it is until there is one.
    guard let handler, let data = takeData() else { return }
    // An event that comes while the source starts may be queued before the registration. It can
    // only come once the source monitors, or has nothing to monitor. So the registration handler
    // may run here.
    if isUnregistered {
      takeRegistrationHandler()?.run(of: self, on: thread)
      if isCancelled { return }
    }
    // relaxed: for the handler on this thread; other threads see some value.
    current.store(data, ordering: .relaxed)
    handler.run(of: self, on: thread)
    eventWasHandled(on: thread)
  }

  private func runCancellation(on thread: ThreadContext) {
    let (cancel, _, _) = endHandlers()
    cancel?.run(of: self, on: thread)
  }

  /// The thread that runs an event holds the source, so its target is fixed.
  override func placeOfItems() -> (place: UInt32, isSource: Bool) {
    (withTarget { $0.placeOnBoard() }, true)
  }

  final func submitRetained(
    from thread: ThreadContext, qos: PackedQoS = .unspecified, _ entry: @escaping WorkNode.Entry
  ) {
    let node = NodeCache.take(thread)
    node.context = Unmanaged.passRetained(self).toOpaque()
    node.traits = WorkTraits(qos: qos)
    node.entry = entry
    submit(node, from: thread)
  }

  static func taken(
    from raw: UnsafeMutableRawPointer, _ thread: ThreadContext
  ) -> Unmanaged<DispatchSource> {
    let node = WorkNode(raw)
    let source = Unmanaged<DispatchSource>.fromOpaque(node.context.unsafelyUnwrapped)
    NodeCache.put(node, thread)
    return source
  }
}

// MARK: DispatchSourceProtocol

extension DispatchSource: DispatchSourceProtocol {
  /// Ends the source: no event handler starts from now on, and the cancel handler runs last.
  ///
  /// Call from any thread, any number of times. An event handler that is running continues. The
  /// cancel handler runs on the source's queue; if the source is suspended, after `resume()`.
  ///
  /// - Source: `dispatch_source_cancel(3)`.
  public final func cancel() {
    // The cancel handler sees what the caller did; the lane's push orders it too.
    guard let wasStarted = sourceState.transition({ $0.cancelling() }) else { return }
    withAmpleStack { stopMonitoring() }
    if wasStarted && endsInPlace() { return }
    willQueueCancellation()
    submitRetained(from: currentThread()) { raw, thread in
      let source = DispatchSource.taken(from: raw, thread)
      // SAFETY: the node's reference, which this takes.
      source._withUnsafeGuaranteedRef { $0.runCancellation(on: thread) }
      source.release()
    }
  }

  /// The source itself. For the engine only.
  public final var _source: DispatchSource { self }

  /// Whether `cancel()` was called.
  ///
  /// - Source: `dispatch_source_testcancel(3)`.
  public final var isCancelled: Bool {
    sourceState.load(ordering: .acquiring).isCancelled
  }

  /// In the event handler, the data of the event; its meaning depends on the kind of source.
  ///
  /// Outside the event handler the value is unspecified.
  ///
  /// - Source: `dispatch_source_get_data(3)`.
  public final var data: UInt {
    let seen = current.load(ordering: .relaxed)
    guard seen == Self.toBeAsked else { return UInt(truncatingIfNeeded: seen) }
    let asked = askForData()
    // relaxed: as in runEvent(). Stored, so that the value stays the same within a handler.
    current.store(asked, ordering: .relaxed)
    return UInt(truncatingIfNeeded: asked)
  }
  /// The descriptor, signal number or process number that the source watches; 0 for other kinds.
  ///
  /// - Source: `dispatch_source_get_handle(3)`.
  public final var handle: UInt { handleValue }
  /// The events that the source was made for; 0 for kinds without a mask.
  ///
  /// - Source: `dispatch_source_get_mask(3)`.
  public final var mask: UInt { maskValue }
}
