// Purpose: hands the events of a source to one waiter, each on demand.
// The source is suspended unless the waiter waits. So no event is stored here: what happens
// meanwhile merges in the source, which is bounded, causes no wake-ups, and counts what was
// missed.
//   0 held      the source is suspended, once, by this object; there is no waiter
//   1 waiting   the source is not suspended, or the thread that set this state is about to resume
//               it; the waiter waits
//   2 ended     the source is cancelled, or the thread that set this state is about to cancel it
//   next     held → waiting     resumes the source
//   event    waiting → held     the handler has suspended the source before; resumes the waiter
//   event    waiting → ended    the last event: cancels the source; resumes the waiter
//   end      held → ended       cancels the source, and resumes it: its cancel handler must run
//   end      waiting → ended    cancels the source; resumes the waiter with nil
//
// Balance of suspensions: the source has one while the state is held, and none otherwise once all
// calls have returned. The handler suspends first and exchanges then, because as soon as the state
// is held, another thread may resume the source. If end() was faster, the exchange fails, and the
// handler undoes its own suspension.
// The waiter belongs to the thread that calls next() until that thread sets waiting, then to the
// thread that exchanges waiting for another state. Those exchanges release and acquire.
// Events come one at a time, from the source's lane, and only in the state waiting or ended: in
// held, the lane is suspended.
// Models: Verification/Models/Scenes/DemandModels.swift. Test of races: DemandStressTests.
#if !GRANDCENTRAL_MODEL
  import GrandCentralCore
#endif

/// What the event handler of a source finds.
enum Occurrence<Event> {
  /// A spurious wake-up: the waiter continues to wait.
  case nothing
  case event(Event)
  /// An event after which there is none.
  case last(Event)
}

// SAFETY: the word orders all accesses to the waiter, as argued above.
final class EventDemand<Event: Sendable, Waiting: Waiter<Event?>>: @unchecked Sendable {
  private let word = Atomic<UInt32>(EventDemand.held)
  @Cell private var waiter: Waiting?
  private let source: any DispatchSourceProtocol

  private static var held: UInt32 { 0 }
  private static var waiting: UInt32 { 1 }
  private static var ended: UInt32 { 2 }

  /// Takes over an inactive source, suspends and activates it: it monitors from now on, and counts
  /// what happens. `read` reads an event, in the source's event handler.
  init(
    _ source: any DispatchSourceProtocol, qos: DispatchQoS = .unspecified,
    read: @escaping () -> Occurrence<Event>
  ) {
    self.source = source
    // The source and this object retain each other until end().
    source.setEventHandler(qos: qos, flags: []) { [self] in
      switch read() {
      case .nothing: break
      case .event(let event): deliver(event, isLast: false)
      case .last(let event): deliver(event, isLast: true)
      }
    }
    source.suspend()
    source.activate()
  }

  /// Resumes `waiter` with the next event; with `nil` if there are no more. One waiter at a time.
  func next(_ waiter: Waiting) {
    // acquiring: pairs with deliver(), whose thread has taken the previous waiter.
    switch word.load(ordering: .acquiring) {
    case Self.held:
      self.waiter = waiter
      // releasing: publishes the waiter. Failure relaxed: the waiter is this thread's own.
      let (won, _) = word.compareExchange(
        expected: Self.held, desired: Self.waiting, successOrdering: .releasing,
        failureOrdering: .relaxed)
      if won { return source.resume() }
      // end() was faster. It touches no waiter in the state held.
      self.waiter = nil
      waiter.resume(with: nil)
    case Self.ended: waiter.resume(with: nil)
    default:
      clientFault(
        "Two tasks iterate over the events of one source at the same time. Iterate in one task.")
    }
  }

  /// Hands an event to the waiter, in the source's event handler. With `isLast`, the sequence ends.
  private func deliver(_ event: Event, isLast: Bool) {
    if !isLast { source.suspend() }
    // acquiring: pairs with next(), for the waiter. releasing: this thread takes the waiter before
    // another call of next() writes it, because that call comes after the waiter is resumed.
    let (won, _) = word.compareExchange(
      expected: Self.waiting, desired: isLast ? Self.ended : Self.held,
      successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
    guard won else {
      if !isLast { source.resume() }
      return
    }
    let waiter = waiter.take()
    if isLast { source.cancel() }
    waiter?.resume(with: event)
  }

  /// Ends the sequence and cancels the source. Any thread, any number of times.
  func end() {
    // acquiring: pairs with next(), for the waiter.
    let was = word.exchange(Self.ended, ordering: .acquiringAndReleasing)
    if was == Self.ended { return }
    let waiter = was == Self.waiting ? waiter.take() : nil
    source.cancel()
    if was == Self.held { source.resume() }
    waiter?.resume(with: nil)
  }
}
