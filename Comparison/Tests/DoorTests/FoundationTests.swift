// Foundation imports the toolchain's Dispatch. A source that imports both Foundation and this
// engine gets this engine's names, without ambiguity and without naming a module.
import Foundation
import TestSupport
import Testing

#if DOOR_DISPATCH
  import Dispatch
#else
  import GrandCentral
#endif

#if DOOR_DISPATCH
  private let engine = "Dispatch"
#else
  private let engine = "GrandCentralCore"
#endif

@Suite("A source that imports Foundation too") struct FoundationTests {
  @Test func `gets the types of the engine it asks for`() {
    let types: [Any.Type] = [
      DispatchQueue.self, DispatchQueue.Attributes.self, DispatchGroup.self, DispatchSemaphore.self,
      DispatchWorkItem.self, DispatchWorkItemFlags.self, DispatchQoS.self, DispatchTime.self,
      DispatchWallTime.self, DispatchTimeInterval.self, DispatchTimeoutResult.self,
      DispatchPredicate.self, DispatchSpecificKey<Int>.self, DispatchObject.self,
      DispatchData.self, DispatchDataIterator.self, DispatchIO.self, DispatchSource.self,
    ]
    for type in types { #expect(String(reflecting: type).hasPrefix("\(engine).")) }
  }

  @Test func `uses them together with Foundation's`() {
    let queue = DispatchQueue(label: "foundation", attributes: .concurrent)
    let group = DispatchGroup()
    let lock = NSLock()
    nonisolated(unsafe) var dates: [Date] = []
    for _ in 0..<4 {
      queue.async(group: group) {
        lock.withLock { dates.append(Date()) }
      }
    }
    #expect(group.wait(timeout: .now() + .seconds(deadlineSeconds)) == .success)
    #expect(dates.count == 4)
    let later = DispatchTime.now() + .seconds(1)
    let soon: DispatchTime = .now() + 0.5
    #expect(soon < later)
    #expect(Data("text".utf8).count == queue.sync { 4 })
    dispatchPrecondition(condition: .notOnQueue(queue))
    DispatchQueue.concurrentPerform(iterations: 2) { number in
      #expect(Date(timeIntervalSince1970: Double(number)) < Date())
    }
  }
}
