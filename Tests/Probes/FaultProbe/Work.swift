import GrandCentral
import TestSupport

/// A batch of work that uses every kind of queue. Creating and submitting it never waits.
final class Work: Sendable {
  let group = DispatchGroup()
  let count = Counter()
  let last = DispatchSemaphore(value: 0)
  let serial = DispatchQueue(label: "work.serial")
  let item: DispatchWorkItem
  private let concurrent = DispatchQueue(label: "work.concurrent", attributes: .concurrent)
  private let outOfOrder = Counter()
  private let torn = Counter()
  private let next = Unguarded(0)
  private let table = Unguarded([0, 0, 0, 0])

  init() {
    let count = count
    item = DispatchWorkItem { count.add() }
  }

  static var total: Int { 100 + 100 + 40 + 20 + 1 }

  func submit() {
    for number in 0..<100 {
      serial.async(group: group) { [self] in
        if next.value != number { outOfOrder.add() }
        next.value = number + 1
        count.add()
      }
    }
    for number in 0..<100 {
      concurrent.async(group: group, flags: number % 10 == 9 ? .barrier : []) { [self] in
        if number % 10 == 9 {
          for index in table.value.indices { table.value[index] += 1 }
        } else if Set(table.value).count != 1 {
          torn.add()
        }
        count.add()
      }
    }
    for number in 0..<40 {
      DispatchQueue.global(qos: number % 2 == 0 ? .utility : .userInitiated).async(group: group) {
        [self] in
        count.add()
        if number % 2 == 0 { serial.async(group: group) { [self] in count.add() } }
      }
    }
    DispatchQueue.global().async(group: group, execute: item)
    group.notify(queue: .global()) { [self] in last.signal() }
  }

  /// Checks the results. All items but `last` must have been waited for.
  func verify(_ when: String) {
    check(count.value == Self.total, "all of the work ran, each once, \(when): \(count.value)")
    check(outOfOrder.value == 0 && torn.value == 0, "in order and apart from each other")
  }

  /// Runs a batch to its end. Returns false if it did not end in time, or with wrong results.
  static func isDone() -> Bool {
    let work = Work()
    work.submit()
    let end = DispatchTime.now() + .seconds(deadlineSeconds)
    return work.last.wait(timeout: end) == .success && work.count.value == total
      && work.outOfOrder.value == 0 && work.torn.value == 0
  }
}

/// A thread that is created in advance, for use when no thread can be created.
final class Helper: Sendable {
  private let start = Latch()
  private let body = Box<@Sendable () -> Void>({})
  private let thread = Box<TestThread?>(nil)

  init() {
    let isReady = Latch()
    thread.value = TestThread("helper") { [start, body] in
      isReady.open()
      _ = start.wait(seconds: 1_000_000)
      body.value()
    }
    _ = isReady.wait()
  }

  func run(_ body: @escaping @Sendable () -> Void) {
    self.body.value = body
    start.open()
  }

  func join() -> Bool { thread.value?.join() ?? false }
}

/// Whether the kernel reports that a thread of this process sleeps.
func isSleeping(_ threadID: Int) -> Bool {
  // man 5 proc: the state follows the name, which ends with the last parenthesis.
  guard let line = contents(of: "/proc/self/task/\(threadID)/stat"),
    let end = line.lastIndex(of: ")")
  else { return false }
  return line[end...].dropFirst(2).first == "S"
}

func hasThread(named name: String) -> Bool { processThreads().contains { $0.name == name } }
