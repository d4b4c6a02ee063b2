// Room: Sources/SourceState. The word that says what a source still has to do on its queue, and
// which of its threads may touch the event handler.
//   0 queued     the event node is on the lane, and will take all pending data when it runs; before
//                the start: the thread that starts the source will queue the node
//   1 cancelled  no event handler starts from now on; the cancel handler is on the lane, or has run
//   2 started    the source is active; it monitors, or will when its registration handler is about
//                to run
//   3 registers  it may have a registration handler; the source's lock decides
//   4 adopted    the event handler belongs to the lane: only a thread that holds the lane writes
//                it, with the source's lock, or reads it without. Otherwise it belongs to the lock
//   5 replaced   the lock keeps a successor for the event handler, which the lane has to adopt
//   signal   sets queued      sends the node if started, neither cancelled nor queued before
//   event    clears queued    runs, or stops if cancelled
//   start    sets started     sends the node if queued
//   cancel   sets cancelled   the caller stops the monitoring
//   adopt    clears replaced; sets adopted if there is a handler, else clears it
//   replace  sets replaced if adopted
//
// Data: a signal stores its data first, then sets queued. The event node clears queued first, then
// takes the data. So data stored before the clearing is taken by that node; data stored after it
// finds queued clear, and queues a new node. Setting a set bit exchanges the word too, and so joins
// the order of the word.
// Handler: `adopted` is set under the source's lock, by a thread that holds the lane. Before, each
// access to the handler takes the lock. Afterwards, no thread without the lane writes the handler;
// the lane orders its holders' accesses by itself. `adopted` is cleared the same way, with the last
// handler.
// Invariants: replaced ⇒ adopted. adopted and replaced change only under the source's lock.
// Unit tests: Tests/GrandCentralCoreTests/Sources/SourceStateTests.swift. Models: SourceModels,
// ActivationModels, EndingModels, HandlerModels.

struct SourceState: StateWord {
  let rawValue: UInt32

  static let queued: UInt32 = 1 << 0
  static let cancelled: UInt32 = 1 << 1
  static let started: UInt32 = 1 << 2
  static let registers: UInt32 = 1 << 3
  static let adopted: UInt32 = 1 << 4
  static let replaced: UInt32 = 1 << 5

  static var inactive: SourceState { SourceState(rawValue: 0) }

  var isQueued: Bool { rawValue & Self.queued != 0 }
  var isCancelled: Bool { rawValue & Self.cancelled != 0 }
  var isStarted: Bool { rawValue & Self.started != 0 }
  var mayRegister: Bool { rawValue & Self.registers != 0 }
  var isAdopted: Bool { rawValue & Self.adopted != 0 }
  var isReplaced: Bool { rawValue & Self.replaced != 0 }

  var isValid: Bool { rawValue < 1 << 6 && (!isReplaced || isAdopted) }

  private func with(_ bits: UInt32) -> SourceState { SourceState(rawValue: rawValue | bits) }
  func without(_ bits: UInt32) -> SourceState { SourceState(rawValue: rawValue & ~bits) }
}

// MARK: Start and end

extension SourceState {
  enum Start: Hashable {
    /// The source was cancelled before.
    case isOver
    /// The source starts to monitor. `sends`: the caller queues the event node too.
    case monitors(sends: Bool)
    /// The registration handler runs first, if the source's lock knows one.
    case registers(sends: Bool)
  }

  /// Starts the source. `nil`: it was started before.
  func starting() -> (next: SourceState, outcome: Start)? {
    if isStarted { return nil }
    let outcome: Start =
      isCancelled ? .isOver : mayRegister ? .registers(sends: isQueued) : .monitors(sends: isQueued)
    return (with(Self.started), outcome)
  }

  /// Cancels the source, and returns whether it was started. `nil`: it was cancelled before.
  func cancelling() -> (next: SourceState, outcome: Bool)? {
    isCancelled ? nil : (with(Self.cancelled), isStarted)
  }

  /// A registration handler was set. Returns whether the source has started; the caller then queues
  /// the handler.
  func registering() -> (next: SourceState, outcome: Bool)? { (with(Self.registers), isStarted) }

  /// The registration handler was taken.
  func registered() -> SourceState? { without(Self.registers) }
}

// MARK: Events

extension SourceState {
  /// Something has happened. Returns whether the caller queues the event node.
  func signalled() -> (next: SourceState, outcome: Bool)? {
    (with(Self.queued), isStarted && !isQueued && !isCancelled)
  }

  enum Event: Hashable {
    /// The source was cancelled: no handler starts.
    case stops
    /// The lane has the event handler, and there is no registration handler.
    case runs
    /// The handlers are found under the source's lock.
    case runsAfterLook
  }

  /// The event node runs.
  func beginningEvent() -> (next: SourceState, outcome: Event)? {
    let isPlain = rawValue & (Self.adopted | Self.replaced | Self.registers) == Self.adopted
    return (without(Self.queued), isCancelled ? .stops : isPlain ? .runs : .runsAfterLook)
  }
}

// MARK: The event handler, under the source's lock

extension SourceState {
  /// The lane takes over the handler, or gives it back to the lock if there is none. For a thread
  /// that holds the lane.
  func adopting(hasHandler: Bool) -> SourceState? {
    hasHandler ? without(Self.replaced).with(Self.adopted) : without(Self.replaced | Self.adopted)
  }

  /// The lock has a successor for the lane's handler. `nil`: the handler is the lock's own.
  func replacing() -> SourceState? { isAdopted ? with(Self.replaced) : nil }
}
