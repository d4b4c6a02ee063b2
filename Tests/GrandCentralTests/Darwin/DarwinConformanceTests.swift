import GrandCentral
import Testing

/// Conformances that programs for macOS use; most of them only need to compile.
@Suite("Conformances of macOS") struct DarwinConformanceTests {
  private func needsSendable<Value: Sendable>(_ value: Value) {}

  @Test func `objects are equal by identity, and keys`() {
    let one = DispatchQueue(label: "same")
    let other = DispatchQueue(label: "same")
    #expect(one == one)
    #expect(one != other)
    #expect(Set([one, other, one, DispatchQueue.main, .main]).count == 3)
    let group = DispatchGroup()
    let objects: Set<DispatchObject> = [one, group, DispatchSemaphore(value: 0), group]
    #expect(objects.count == 3)
    #expect(objects.contains(group))
    #expect(!objects.contains(other))
  }

  @Test func `data's parts are Sendable`() {
    needsSendable(DispatchData.Deallocator.free)
    needsSendable(DispatchData.Deallocator.custom(.main) {})
    needsSendable(DispatchData.empty.makeIterator())
  }

  @Test func `queues are executors`() {
    let tasks: [any TaskExecutor] = [
      DispatchQueue.global(), DispatchConcurrentQueue(label: "darwin.wide"),
      DispatchQueue(label: "darwin.serial"), DispatchWorkloop(label: "darwin.loop"),
    ]
    #expect(tasks.count == 4)
    let serial: [any SerialExecutor] = [
      DispatchSerialQueue(label: "darwin.serial"), DispatchWorkloop(label: "darwin.loop"),
    ]
    #expect(serial.allSatisfy { $0.isIsolatingCurrentContext() == false })
    #expect(DispatchQueue.main is any SerialExecutor)
    #expect(!(DispatchQueue.global() is any SerialExecutor))
  }
}
