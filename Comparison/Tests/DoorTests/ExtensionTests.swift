// What programs add to the types: initialisers of their own.
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

@Suite("What programs add, the same source") struct ExtensionTests {
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
}
