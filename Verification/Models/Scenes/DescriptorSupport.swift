// Room: Models/Descriptors. Shared parts of the descriptor models: entries, and threads that act as
// their handlers.

final class DescriptorScene: @unchecked Sendable {
  let events: EventScene
  private var readers: [Reader] = []

  init(_ scene: Scene, pollers: Int = 1) {
    events = EventScene(scene, pollers: pollers)
    for number in 0..<2 { ModelKernel.open(ModelKernel.first + Int32(number)) }
  }

  func reader(
    of descriptor: Int32 = ModelKernel.first, answer: SharedDescriptor.Answer = .waits,
    maxAnswers: Int = .max, direction: DescriptorEntry.Direction = .read
  ) -> Reader {
    readers.append(Reader(events, descriptor, answer, maxAnswers, direction))
    return readers[readers.count - 1]
  }

  /// A reader whose handlers count as those of a poller thread, while the other one stands by: its
  /// descriptor stays armed.
  func readerInPlace(maxAnswers: Int = .max) -> Reader {
    let made = reader(maxAnswers: maxAnswers)
    made.record = events.pool.makeExternalWorker(named: "")
    events.poller.mayStayArmed.store(true, ordering: .relaxed)
    return made
  }

  func expectNothingUnread() {
    Checker.expect(
      ModelKernel.readiness(ModelKernel.first).isEmpty, "unread data was not reported")
  }

  func finally(_ scene: Scene, _ verdict: @escaping () -> Void) {
    scene.finally {
      verdict()
      for reader in self.readers { reader.leave() }
      for number in 0..<2 {
        let table = self.events.reactor.descriptors
        table.forget(table.shared(ModelKernel.first + Int32(number)))
      }
      self.events.end()
    }
  }
}

/// An entry of a descriptor. A thread for each notification acts as the source's handler.
final class Reader: @unchecked Sendable {
  let entry: DescriptorEntry
  let listener = Listener()
  let hasHeard = Atomic32()
  /// Set when a handler has begun.
  let hasBegun = Atomic32()
  private let descriptor: Int32
  private let events: EventScene
  /// Guards the writes of `shared`, and `isStopped`, as the source's lock does.
  private let lock = Lock()
  @Cell private var shared: SharedDescriptor?
  @Cell private var isStopped = false
  @Cell private var last: SharedDescriptor?
  /// The record that its handlers work under. Set before it joins.
  @Cell var record: Worker?
  /// Whether nothing else reads its file, and its number stays open. Set before it joins.
  @Cell var isAlone = false

  init(
    _ events: EventScene, _ descriptor: Int32, _ answer: SharedDescriptor.Answer, _ most: Int,
    _ direction: DescriptorEntry.Direction
  ) {
    self.events = events
    self.descriptor = descriptor
    entry = DescriptorEntry(direction, of: 7, queueLabel: "")
    entry.listener = Unmanaged.passUnretained(listener)
    let (entry, hasHeard, hasBegun, heard) = (entry, hasHeard, hasBegun, listener.heard)
    listener.onNotified = { [unowned self] in
      hasHeard.word.store(1, ordering: .relaxed)
      futexWake(hasHeard.word)
      if heard.count > most { return }
      Checker.spawn("handler") { [self] in
        // As DescriptorSource.takeData(): `shared` is written before the entry is notified.
        guard let (seen, isSure) = entry.notification, let shared else { return }
        entry.wasResumed.store(false, ordering: .relaxed)
        hasBegun.word.store(1, ordering: .relaxed)
        futexWake(hasBegun.word)
        let isReadable = seen.contains(.readable)
        if isReadable {
          Checker.expect(
            !isSure || !isAlone || ModelKernel.readiness(descriptor).contains(.readable),
            "a handler that need not look finds nothing to read")
          ModelKernel.take(descriptor, .readable)
        }
        let isOver = answer == .hasEnded && isReadable
        let thread = currentThread()
        if let record { thread.pointee.worker = Unmanaged.passUnretained(record).toOpaque() }
        shared.answer(entry, isOver ? .waits : answer, on: thread)
        thread.pointee.worker = nil
      }
    }
  }

  /// Joins the descriptor, as DescriptorSource.startMonitoring() does.
  func join() {
    while true {
      let candidate = events.shared(descriptor)
      let isLate = lock.withLock {
        if !isStopped { shared = candidate }
        return isStopped
      }
      if isLate { return }
      last = candidate
      if candidate.join(entry, on: currentThread()) {
        if lock.withLock({ isStopped }) { candidate.leave(entry) }
        return
      }
      events.reactor.descriptors.forget(candidate)
    }
  }

  /// As DescriptorSource.willResume(), once a handler has begun.
  func resumeBesideHandler() {
    while hasBegun.word.load(ordering: .relaxed) == 0 { _ = futexWait(hasBegun.word, while: 0) }
    events.shared(descriptor).resume(entry, on: currentThread())
  }

  /// Takes the lock of the descriptor's sources.
  func look() {
    let other = DescriptorEntry(.read, of: 7, queueLabel: "")
    events.shared(descriptor).leave(other)
  }

  /// Leaves the descriptor, as DescriptorSource.stop() does.
  func leave() {
    let left = lock.withLock {
      isStopped = true
      return shared
    }
    left?.leave(entry)
  }

  /// Whether the table still holds the object that this reader joined last. A lookup may add one.
  var isKnown: Bool { events.shared(descriptor) === last }
}

final class Needy: ResourceRetry, @unchecked Sendable {
  let lock = Lock()
  @Cell var lacks = false

  func tryAgain(on thread: ThreadContext) -> Bool { lock.withLock { !lacks } }
}
