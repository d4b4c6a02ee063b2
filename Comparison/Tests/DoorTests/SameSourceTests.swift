// One source for both engines: compiled here with Grand Central, and with the toolchain's Dispatch
// in DoorDispatchTests, a symbolic link to this folder. It is written like programs for macOS in
// Swift 6 mode: source that compiles against Dispatch must compile when only the import changes.
import TestSupport
import Testing

#if DOOR_DISPATCH
  import Dispatch
#else
  import GrandCentral
#endif

private final class Account: Sendable {
  private let queue = DispatchQueue(label: "account", qos: .userInitiated, attributes: .concurrent)
  nonisolated(unsafe) private var total = 0

  var balance: Int { queue.sync { total } }

  func deposit(_ amount: Int) {
    queue.async(flags: .barrier) { [self] in total += amount }
  }

  func withdraw(_ amount: Int) throws {
    try queue.sync(flags: [.barrier]) {
      guard total >= amount else { throw Overdrawn() }
      total -= amount
    }
  }
}

private struct Overdrawn: Error {}

@Suite("The same source") struct SameSourceTests {
  @Test func `protects state with a queue`() throws {
    let account = Account()
    for _ in 0..<10 { account.deposit(10) }
    try account.withdraw(30)
    #expect(account.balance == 70)
    #expect(throws: Overdrawn.self) { try account.withdraw(100) }
  }

  @Test func `collects results of concurrent work`() {
    let group = DispatchGroup()
    let results = DispatchQueue(label: "results")
    nonisolated(unsafe) var squares: [Int] = []
    for number in 1...10 {
      DispatchQueue.global(qos: .utility).async(group: group) {
        let square = number * number
        results.async(group: group) { squares.append(square) }
      }
    }
    #expect(group.wait(timeout: .now() + .seconds(deadlineSeconds)) == .success)
    #expect(results.sync { squares.reduce(0, +) } == 385)
  }

  @Test func `names global queues as programs and tools know them`() {
    #expect(DispatchQueue.main.label == "com.apple.main-thread")
    #expect(DispatchQueue.global().label == "com.apple.root.default-qos")
    let labels: [DispatchQoS.QoSClass: String] = [
      .background: "com.apple.root.background-qos", .utility: "com.apple.root.utility-qos",
      .default: "com.apple.root.default-qos", .unspecified: "com.apple.root.default-qos",
      .userInitiated: "com.apple.root.user-initiated-qos",
    ]
    for (qosClass, label) in labels { #expect(DispatchQueue.global(qos: qosClass).label == label) }
  }

  @Test func `accepts the forms of async`() {
    let queue = DispatchQueue(
      label: "forms", qos: .default, attributes: [], autoreleaseFrequency: .inherit, target: nil)
    let done = DispatchSemaphore(value: 0)
    queue.async { done.signal() }
    queue.async(execute: { done.signal() })
    queue.async(qos: .background) { done.signal() }
    queue.async(qos: .userInitiated, flags: [.enforceQoS]) { done.signal() }
    queue.async(group: nil, qos: .unspecified, flags: []) { done.signal() }
    queue.async(execute: DispatchWorkItem { done.signal() })
    queue.async(execute: DispatchWorkItem(qos: .utility, flags: [.noQoS]) { done.signal() })
    queue.async(group: DispatchGroup(), execute: DispatchWorkItem { done.signal() })
    for _ in 0..<8 { #expect(done.wait(timeout: .now() + .seconds(deadlineSeconds)) == .success) }
  }

  @Test func `accepts the forms of sync`() {
    let queue = DispatchQueue(
      label: "forms.sync", target: DispatchQueue.global(qos: .userInitiated))
    queue.sync {}
    queue.sync(execute: {})
    queue.sync(execute: DispatchWorkItem {})
    let number = queue.sync { 1 }
    let text: String = queue.sync(flags: []) { "text" }
    let list = queue.sync { () -> [Int] in
      let base = [1, 2]
      return base + [3]
    }
    #expect(number == 1 && text == "text" && list.count == 3)
  }

  @Test func `computes with times`() {
    let deadline: DispatchTime = .now() + .milliseconds(5)
    let later = DispatchTime.now() + 1.5
    let interval = DispatchTimeInterval.seconds(2)
    #expect(deadline < later && later < DispatchTime.now() + interval)
    #expect(DispatchWallTime.now() + interval > .now())
    switch interval {
    case .seconds(let count): #expect(count == 2)
    case .milliseconds, .microseconds, .nanoseconds, .never: Issue.record("not seconds")
    @unknown default: Issue.record("unknown")
    }
    switch DispatchSemaphore(value: 0).wait(timeout: deadline) {
    case .success: Issue.record("no signal was sent")
    case .timedOut: break
    }
  }

  @Test func `iterates, marks queues and checks where it runs`() {
    let key = DispatchSpecificKey<String>()
    let queue = DispatchQueue(label: "marked")
    queue.setSpecific(key: key, value: "yes")
    queue.sync {
      #expect(DispatchQueue.getSpecific(key: key) == "yes")
      dispatchPrecondition(condition: .onQueue(queue))
      dispatchPrecondition(condition: .notOnQueue(.main))
    }
    nonisolated(unsafe) var sum = 0
    DispatchQueue.concurrentPerform(iterations: 100) { number in queue.sync { sum += number } }
    #expect(queue.sync { sum } == 4950)
  }

  @Test func `names types where a program stores them`() {
    let objects: [DispatchObject] = [
      DispatchQueue.main, DispatchGroup(), DispatchSemaphore(value: 1),
    ]
    let data: DispatchData = .empty
    let channel: (DispatchIO) -> DispatchObject = { $0 }
    let source: (DispatchSource) -> DispatchObject & DispatchSourceProtocol = { $0 }
    let attributes: DispatchQueue.Attributes = [.concurrent, .initiallyInactive]
    let quality = DispatchQoS(qosClass: .utility, relativePriority: -1)
    let work: @Sendable () -> Void = {}
    let predicate: DispatchPredicate = .notOnQueue(DispatchQueue(label: "elsewhere"))
    #expect(objects.count == 3 && attributes.contains(.concurrent))
    #expect(quality.qosClass == DispatchQoS.QoSClass.utility)
    work()
    _ = (data, channel, source)
    dispatchPrecondition(condition: predicate)
  }

  @Test func `waits from Swift Concurrency through a continuation`() async {
    let queue = DispatchQueue(label: "continuation")
    let value = await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: 42) }
    }
    #expect(value == 42)
  }
}
