import GrandCentralPrimitives
import TestSupport
import Testing

@testable import GrandCentralCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Functions of the engine that only the C interface uses.
@Suite("C functions") struct FunctionTests {
  /// Counts the calls of a function whose context is this object, which is not retained.
  private final class Calls: Sendable {
    let count = Atomic<Int>(0)
    let latch = Latch()
    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }
    var now: Int { count.load(ordering: .acquiring) }

    static let add: WorkFunction = { raw in
      let calls = Unmanaged<Calls>.fromOpaque(raw.unsafelyUnwrapped).takeUnretainedValue()
      calls.count.wrappingAdd(1, ordering: .acquiringAndReleasing)
    }
    static let open: WorkFunction = { raw in
      add(raw)
      Unmanaged<Calls>.fromOpaque(raw.unsafelyUnwrapped).takeUnretainedValue().latch.open()
    }
  }

  @Test func `run on a serial queue before what comes after them`() {
    let queue = DispatchQueue(label: "functions")
    let calls = Calls()
    withExtendedLifetime(calls) {
      for _ in 0..<1000 { queue.asyncCall(Calls.add, calls.context) }
      queue.syncCall(Calls.add, calls.context, isBarrier: false)
      #expect(calls.now == 1001)
      queue.asyncCall(qos: .utility, flags: .enforceQoS, Calls.add, calls.context)
      queue.asyncAndWaitCall(Calls.add, calls.context, isBarrier: false)
      #expect(calls.now == 1003)
    }
  }

  @Test func `are barriers of concurrent queues`() {
    let queue = DispatchQueue(label: "functions", attributes: .concurrent)
    let calls = Calls()
    withExtendedLifetime(calls) {
      for _ in 0..<100 { queue.asyncCall(Calls.add, calls.context) }
      queue.asyncCall(Calls.add, calls.context, isBarrier: true)
      queue.syncCall(Calls.add, calls.context, isBarrier: true)
      #expect(calls.now == 102)
    }
  }

  @Test func `leave their group, and end it`() {
    let queue = DispatchQueue(label: "functions", attributes: .concurrent)
    let (calls, end) = (Calls(), Calls())
    let group = DispatchGroup()
    withExtendedLifetime((calls, end)) {
      for _ in 0..<100 { queue.asyncCall(Calls.add, calls.context, group: group) }
      #expect(group.wait(word: .max) == .success)
      #expect(calls.now == 100)
      group.notify(queue: queue, Calls.open, end.context)
      #expect(end.latch.wait())
      #expect(end.now == 1)
    }
  }

  @Test func `are called in order on serial queues by a loop, and all of them on others`() {
    final class Seen { var numbers: [Int] = [] }
    let seen = Seen()
    let queue = DispatchQueue(label: "serial")
    withExtendedLifetime(seen) {
      queue.applyCall(
        iterations: 100,
        {
          Unmanaged<Seen>.fromOpaque($0.unsafelyUnwrapped).takeUnretainedValue().numbers.append($1)
        }, Unmanaged.passUnretained(seen).toOpaque())
    }
    #expect(seen.numbers == Array(0..<100))
    let calls = Calls()
    let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
    withExtendedLifetime(calls) {
      concurrent.applyCall(iterations: 100, { raw, _ in Calls.add(raw) }, calls.context)
    }
    #expect(calls.now == 100)
  }

  @Test func `finalize an object that has a context, on its target, when it has ended`() {
    let target = DispatchQueue(label: "target")
    let calls = Calls()
    withExtendedLifetime(calls) {
      do {
        let queue = DispatchQueue(label: "ends", target: target)
        queue.context = calls.context
        queue.setFinalizer(Calls.open)
        #expect(queue.context == calls.context)
        let without = DispatchGroup()
        without.setFinalizer(Calls.open)
      }
      #expect(calls.latch.wait())
      target.sync {}
      #expect(calls.now == 1)
    }
  }

  @Test func `destroy a value under an address when another takes its place`() {
    let queue = DispatchQueue(label: "specific")
    let child = DispatchQueue(label: "child", target: queue)
    let (first, second) = (Calls(), Calls())
    let key = UnsafeRawPointer(first.context)
    withExtendedLifetime((first, second)) {
      queue.setSpecific(key, first.context, destructor: Calls.open)
      #expect(queue.specific(key) == first.context)
      #expect(child.specific(key) == nil)
      #expect(child.sync { DispatchQueue.currentSpecific(key) } == first.context)
      queue.setSpecific(key, second.context, destructor: nil)
      #expect(first.latch.wait())
      #expect(queue.specific(key) == second.context)
      queue.setSpecific(key, nil, destructor: nil)
      #expect(queue.specific(key) == nil)
    }
  }

  @Test func `find a label as long as the queue lives`() {
    let queue = DispatchQueue(label: "label")
    let made = queue.labelString { queue.copyLabel() }
    #expect(String(cString: made) == "label")
    #expect(queue.labelString { nil } == made)
    let given = strdup("given")
    queue.setLabelString(given)
    #expect(queue.labelString { nil } == UnsafePointer(given))
    queue.setLabelString(nil)
    #expect(queue.labelString { nil } == made)
    free(given)
  }
}

@Suite("A word of the clock that counts the machine's sleep") struct BootTimeTests {
  private let bit: UInt64 = 1 << 63

  @Test func `distinguishes now, past and future times`() {
    let now = Clock.bootNanoseconds()
    #expect(TimeLimit(word: bit) == .now)
    #expect(TimeLimit(word: bit | 1).hasPassed)
    #expect(TimeLimit(word: bit | now).hasPassed)
    #expect(!TimeLimit(word: bit | (now + 3_600_000_000_000)).hasPassed)
  }
}
