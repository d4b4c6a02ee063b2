// What programs add to the types: initialisers of their own, protocols that mock queues, timers of
// their own, waits in async functions.
import TestSupport
import Testing

#if DOOR_DISPATCH
  import Dispatch
#else
  import GrandCentral
#endif

extension DispatchQueue {
  fileprivate convenience init(serial label: String, qos: DispatchQoS = .default) {
    self.init(label: label, qos: qos)
  }

  fileprivate convenience init?(wide label: String) {
    if label.isEmpty { return nil }
    self.init(label: label, attributes: .concurrent)
  }

  fileprivate convenience init(twice label: String) {
    self.init(serial: label + label)
    setSpecific(key: key, value: label)
  }
}

private let key = DispatchSpecificKey<String>()

private protocol Dispatching: AnyObject {
  func async(
    group: DispatchGroup?, qos: DispatchQoS, flags: DispatchWorkItemFlags,
    execute work: @escaping @Sendable @convention(block) () -> Void)
  func asyncAfter(
    deadline: DispatchTime, qos: DispatchQoS, flags: DispatchWorkItemFlags,
    execute work: @escaping @Sendable @convention(block) () -> Void)
  func asyncAfter(
    wallDeadline: DispatchWallTime, qos: DispatchQoS, flags: DispatchWorkItemFlags,
    execute work: @escaping @Sendable @convention(block) () -> Void)
  func async(execute: DispatchWorkItem)
  func sync<T>(execute work: () throws -> T) rethrows -> T
}

private protocol Notifying {
  func notify(
    qos: DispatchQoS, flags: DispatchWorkItemFlags, queue: DispatchQueue,
    execute work: @escaping @convention(block) () -> Void)
}

private protocol Handling {
  func setEventHandler(
    qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: (@convention(block) () -> Void)?)
  func setCancelHandler(
    qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: (@convention(block) () -> Void)?)
  func setRegistrationHandler(
    qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: (@convention(block) () -> Void)?)
  func resume()
  func cancel()
}

extension DispatchQueue: Dispatching {}
extension DispatchGroup: Notifying {}
extension DispatchWorkItem: Notifying {}
extension DispatchSource: Handling {}

@Suite("What programs add, the same source") struct ExtensionTests {
  private final class Held: Sendable {
    let freed: Counter
    init(_ freed: Counter) { self.freed = freed }
    deinit { freed.add() }
  }

  @Test func `initialisers of their own call the queue's`() throws {
    let queue = DispatchQueue(serial: "own", qos: .utility)
    #expect(queue.label == "own" && queue.qos == .utility && queue.sync { 42 } == 42)
    #expect(DispatchQueue(wide: "") == nil)
    let wide = try #require(DispatchQueue(wide: "wide"))
    let met = Latch(2)
    for _ in 0..<2 {
      wide.async {
        met.open()
        _ = met.wait()
      }
    }
    #expect(met.wait())
    let twice = DispatchQueue(twice: "a")
    #expect(twice.label == "aa" && twice.getSpecific(key: key) == "a")
  }

  @Test func `queues as values of a protocol run blocks`() {
    let queue: any Dispatching = DispatchQueue(label: "blocks")
    let group = DispatchGroup()
    let ran = Latch(5)
    let freed = Counter()
    do {
      let held = Held(freed)
      queue.async(group: group, qos: .utility, flags: []) { withExtendedLifetime(held, ran.open) }
      queue.async(group: nil, qos: .unspecified, flags: .barrier) {
        withExtendedLifetime(held, ran.open)
      }
      queue.asyncAfter(deadline: .now(), qos: .unspecified, flags: []) {
        withExtendedLifetime(held, ran.open)
      }
      queue.asyncAfter(wallDeadline: .now(), qos: .unspecified, flags: []) {
        withExtendedLifetime(held, ran.open)
      }
    }
    queue.async(execute: DispatchWorkItem { ran.open() })
    #expect(ran.wait())
    #expect(group.wait(timeout: .now() + .seconds(deadlineSeconds)) == .success)
    #expect(queue.sync { 1 } == 1)
    #expect(freed.waitForValue(1))
  }

  @Test func `groups and work items as values of a protocol notify by blocks`() {
    let item = DispatchWorkItem {}
    let ended = Latch(2)
    let members: [any Notifying] = [DispatchGroup(), item]
    for member in members {
      member.notify(qos: .unspecified, flags: [], queue: .global()) { ended.open() }
    }
    item.perform()
    #expect(ended.wait())
  }

  @Test func `sources as values of a protocol have blocks as handlers`() throws {
    let source = DispatchSource.makeUserDataAddSource(queue: .global())
    let handling: any Handling = try #require(source as? DispatchSource)
    let (registered, event, cancelled) = (Latch(), Latch(), Latch())
    handling.setRegistrationHandler(qos: .unspecified, flags: []) { registered.open() }
    handling.setEventHandler(qos: .unspecified, flags: []) { event.open() }
    handling.setCancelHandler(qos: .unspecified, flags: []) { cancelled.open() }
    handling.resume()
    #expect(registered.wait())
    source.add(data: 1)
    #expect(event.wait())
    handling.setEventHandler(qos: .unspecified, flags: [], handler: nil)
    handling.cancel()
    #expect(cancelled.wait())
  }

  @Test func `async functions may wait for what is done`() async {
    let group = DispatchGroup()
    group.wait()
    #expect(group.wait(timeout: .now()) == .success)
    #expect(group.wait(wallTimeout: .now()) == .success)
    let item = DispatchWorkItem {}
    item.perform()
    item.wait()
    let semaphore = DispatchSemaphore(value: 0)
    semaphore.signal()
    #expect(semaphore.wait(timeout: .now()) == .success)
  }

  @Test func `legacy forms that the toolchain does not deprecate give no warning`() {
    #expect(DispatchQueue.global(priority: .low).label == "com.apple.root.utility-qos")
    let timer = DispatchSource.makeTimerSource()
    let fired = Latch()
    timer.setEventHandler { fired.open() }
    timer.scheduleRepeating(deadline: .now(), interval: 60.0, leeway: .seconds(1))
    timer.resume()
    #expect(fired.wait())
    timer.cancel()
  }
}
