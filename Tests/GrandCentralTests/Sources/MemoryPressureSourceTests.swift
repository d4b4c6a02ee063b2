// Memory pressure sources: contract rows S1, S2, S5. The core's tests cover how levels are chosen.
import Glibc
import GrandCentral
import TestSupport
import Testing

@Suite("A memory pressure source") struct MemoryPressureSourceTests {
  typealias Event = DispatchSource.MemoryPressureEvent

  @Test func `has the properties that it was created with, typed and as numbers`() {
    let source = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical])
    let mask: Event = source.mask
    let data: Event = source.data
    let general: any DispatchSourceProtocol = source
    #expect(mask == [.warning, .critical])
    #expect(data.isEmpty)
    #expect(general.mask == 6 && general.data == 0 && general.handle == 0)
    #expect(Event.all.rawValue == 7)
    source.activate()
    source.cancel()
  }

  @Test func `registers, and ends with its cancel handler`() {
    let source = DispatchSource.makeMemoryPressureSource(
      eventMask: .all, queue: DispatchQueue(label: "memory"))
    let begun = Latch()
    let ended = Latch()
    source.setRegistrationHandler { begun.open() }
    source.setCancelHandler { ended.open() }
    source.activate()
    #expect(begun.wait())
    source.cancel()
    #expect(ended.wait())
  }

  @Test func `without a reference ends`() {
    let gone = Latch()
    do {
      let witness = Witness { gone.open() }
      let source = DispatchSource.makeMemoryPressureSource(eventMask: .all)
      source.setEventHandler { _ = witness }
      source.activate()
    }
    #expect(gone.wait())
  }

  @Test func `opens descriptors while a source exists, and no more for many`() async {
    // In a process of its own, where no other code opens descriptors.
    _ = await #expect(processExitsWith: .success) {
      func make() -> any DispatchSourceMemoryPressure {
        let source = DispatchSource.makeMemoryPressureSource(eventMask: .all)
        let begun = Latch()
        source.setRegistrationHandler { begun.open() }
        source.activate()
        _ = begun.wait()
        return source
      }
      func end(_ source: any DispatchSourceProtocol) {
        let ended = Latch()
        source.setCancelHandler { ended.open() }
        source.cancel()
        _ = ended.wait()
      }
      // While memory is scarce, a timer samples; its descriptor stays open once it is made.
      let timer = Latch()
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { timer.open() }
      _ = timer.wait()
      end(make())
      let before = settledDescriptors()
      let first = make()
      let during = settledDescriptors()
      for source in (0..<100).map({ _ in make() }) { end(source) }
      // Waits out descriptors that other threads open briefly.
      let isShared = eventually { openDescriptors() <= during }
      let still = openDescriptors()
      end(first)
      for _ in 0..<200 { end(make()) }
      let isClosed = eventually { openDescriptors() <= before }
      let after = openDescriptors()
      print("descriptors: \(before), with one source \(during), \(still), at the end \(after)")
      exit(isShared && isClosed ? 0 : 1)
    }
  }

  @Test func `for no level, or an unknown one, stops the process and names the fix`() async {
    let none = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = DispatchSource.makeMemoryPressureSource(eventMask: [])
    }
    expectReport(none, names: ["memory pressure source"], says: ["MemoryPressureEvent"])
    let unknown = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = DispatchSource.makeMemoryPressureSource(eventMask: .init(rawValue: 8))
    }
    expectReport(unknown, names: ["8"], says: ["MemoryPressureEvent"])
  }
}
