// Descriptors that stay armed from event to event, and what cannot be disarmed any more.
import CGrandCentralLinux
import Glibc
import GrandCentralPrimitives
import TestSupport
import Testing

@testable import GrandCentralCore

/// A connection with an entry for its near end, whose handler runs on the poller's thread.
private final class Connection: Sendable {
  let far: Int32
  let near: Int32
  let heard = Number()
  let listener = Listener()
  private let reactor: Reactor
  private let entry: DescriptorEntry
  private let shared: SharedDescriptor
  /// Whether handlers leave the event unanswered.
  private let holds = Number()

  convenience init(_ reactor: Reactor) throws {
    let (near, far) = try socketPair()
    self.init(reactor, near: near, far: far)
  }

  init(_ reactor: Reactor, near: Int32, far: Int32) {
    (self.near, self.far) = (near, far)
    self.reactor = reactor
    entry = DescriptorEntry(.read, of: near, queueLabel: "test")
    shared = reactor.descriptors.shared(near)
    entry.listener = Unmanaged.passUnretained(listener)
    listener.onEvent.set { [unowned self] thread in hear(on: thread) }
    #expect(shared.join(entry, on: currentThread()))
  }

  private func hear(on thread: ThreadContext) {
    var byte: UInt8 = 0
    _ = read(near, &byte, 1)
    heard.add()
    if holds.now != 0 { return }
    // As if the other thread stood by.
    if !reactor.poller.hasReplacedSet {
      reactor.poller.mayStayArmed.store(true, ordering: .relaxed)
    }
    answer(on: thread)
  }

  /// How the kernel was asked for the descriptor.
  var asked: Request { shared.lock.withLock { shared.asked } }
  var stage: DescriptorInterest.Stage { shared.lock.withLock { entry.stage } }

  func answer(on thread: ThreadContext = currentThread()) {
    shared.answer(entry, .waits, on: thread)
  }

  /// From now on the handler leaves its events unanswered.
  func hold() { holds.add() }
  func leave() { shared.leave(entry) }

  /// Sends bytes, and returns whether each has been heard.
  func hears(_ count: Int) -> Bool {
    let before = heard.now
    return send(count) && eventually { heard.now == before + count }
  }

  func send(_ count: Int) -> Bool {
    write(far, [UInt8](repeating: 1, count: count), count) == count
  }

  /// Exchanges bytes until the descriptor stays armed.
  func staysArmed() -> Bool { eventually { hears(1) && asked.mode == .level } }

  func end() {
    leave()
    close(near)
    close(far)
  }
}

private func socketPair() throws -> (near: Int32, far: Int32) {
  var ends: [Int32] = [-1, -1]
  try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
  return (ends[0], ends[1])
}

private final class Listener: Lane, @unchecked Sendable {
  let onEvent = Box<@Sendable (ThreadContext) -> Void>()

  init() { super.init(kind: .root, qos: .unspecified, target: nil) }

  override var laneLabel: String { "listener" }
  override func eventCame(on thread: ThreadContext) { onEvent.value?(thread) }
}

/// A value that is set before other threads can see the box.
private final class Box<Value: Sendable>: @unchecked Sendable {
  private(set) var value: Value?
  func set(_ value: Value) { self.value = value }
}

private final class Receiver: ReadinessReceiver, Sendable {
  let heard = Number()
  func becameReady(_ readiness: Readiness, on thread: ThreadContext) { heard.add() }
  func descriptorWasClosed() -> (any ResourceRetry)? { nil }
}

extension Poller {
  fileprivate var hasReplacedSet: Bool { lock.withLock { orphans.haveReplacedSet } }
}

@Suite("A descriptor that stays armed") struct StayingArmedTests {
  private func makeReactor() -> Reactor {
    kept(Reactor(pool: Pool.own(width: 2, threads: 4), shards: 1))
  }

  @Test func `is reported at each wait, without a request in between`() throws {
    let connection = try Connection(makeReactor())
    #expect(connection.staysArmed())
    // More than are answered without a request.
    for _ in 0..<200 { #expect(connection.hears(1)) }
    #expect(connection.hears(20))
    connection.end()
  }

  @Test func `is disarmed while nothing waits for it`() throws {
    let connection = try Connection(makeReactor())
    #expect(connection.staysArmed())
    let before = connection.heard.now
    connection.hold()
    #expect(connection.send(2))
    #expect(eventually { connection.asked == .none })
    #expect(connection.heard.now == before + 1)
    connection.answer()
    #expect(eventually { connection.heard.now == before + 2 })
    connection.end()
  }

  @Test func `leaves the set with its source`() throws {
    let reactor = makeReactor()
    let connection = try Connection(reactor)
    #expect(connection.staysArmed())
    connection.leave()
    let set = reactor.poller.set.load(ordering: .relaxed)
    #expect(ReadinessSet.change(set, connection.near, .readable, .once, key: 0) == ENOENT)
    connection.end()
  }

  /// Makes an orphan: a file that stays armed under a number that is closed. Returns its number.
  private func orphan(_ connection: Connection) -> Int32 {
    #expect(connection.staysArmed())
    let other = dup(connection.near)
    close(connection.near)
    connection.leave()
    #expect(connection.send(1))
    return other
  }

  @Test func `and that is closed early wakes the poller a few times only`() throws {
    let reactor = makeReactor()
    let poller = reactor.poller
    let (waiting, held) = (try Connection(reactor), try Connection(reactor))
    held.hold()
    #expect(held.hears(1))
    let (receiver, events) = (Receiver(), EventFD.make())
    guard case .success(let registration) = poller.register(receiver, for: events, .readable, .edge)
    else {
      Issue.record("the descriptor is refused")
      return
    }
    let early = try Connection(reactor)
    let other = orphan(early)
    #expect(eventually { poller.hasReplacedSet })
    // Those that had joined before, those that join afterwards, and receivers of their own.
    #expect(waiting.hears(1) && waiting.hears(1))
    held.answer()
    #expect(held.hears(1))
    let late = try Connection(reactor)
    for _ in 0..<100 { #expect(late.hears(1)) }
    let before = receiver.heard.now
    EventFD.signal(events)
    #expect(eventually { receiver.heard.now > before })
    #expect(late.asked.mode == .once && waiting.asked.mode == .once)
    poller.unregister(registration)
    for connection in [waiting, held, late] { connection.end() }
    for descriptor in [events, other, early.far] { close(descriptor) }
  }

  @Test func `and whose number stands for another file does not move`() throws {
    let reactor = makeReactor()
    let (early, renamed) = (try Connection(reactor), try Connection(reactor))
    let (before, file) = (renamed.near, dup(renamed.near))
    let (near, far) = try socketPair()
    #expect(dup2(near, before) == before)
    let other = orphan(early)
    #expect(eventually { reactor.poller.hasReplacedSet && renamed.stage == .lost })
    #expect(write(far, [1], 1) == 1)
    // The poller has received what came before this connection's byte.
    let late = try Connection(reactor)
    #expect(late.hears(1))
    #expect(renamed.heard.now == 0)
    for connection in [renamed, late] { connection.end() }
    for descriptor in [file, other, early.far, near, far] { close(descriptor) }
  }

  /// As a program does that redirects a number for a while.
  @Test func `and whose number stands for a file again that had a source before`() throws {
    let reactor = makeReactor()
    let first = try Connection(reactor)
    #expect(first.hears(1))
    first.leave()
    // The file stays in the set by that number, silent.
    let saved = dup(first.near)
    let (near, far) = try socketPair()
    #expect(dup2(near, first.near) == first.near)
    let second = Connection(reactor, near: first.near, far: far)
    #expect(second.staysArmed())
    #expect(dup2(saved, first.near) == first.near)
    second.leave()
    // The set still has the second file by that number, and the first one no more.
    #expect(second.send(1))
    #expect(eventually { reactor.poller.hasReplacedSet })
    let late = try Connection(reactor)
    #expect(late.hears(1))
    for connection in [first, late] { connection.end() }
    for descriptor in [saved, near, far] { close(descriptor) }
  }
}
