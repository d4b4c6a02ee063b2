import Glibc
import GrandCentral
import GrandCentralPrimitives
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The QoS of a source's handler") struct SourceQoSTests {
  /// The class at which the handler runs, and the class in which its worker works.
  private func classes(
    on queue: DispatchQueue?, set: (any DispatchSourceUserDataAdd, @escaping () -> Void) -> Void
  ) -> [Band] {
    let source = DispatchSource.makeUserDataAddSource(queue: queue)
    let log = Log<Band>()
    set(source) {
      let thread = currentThread()
      log.append(PackedQoS(rawValue: thread.pointee.qos).band)
      guard let worker = thread.pointee.worker else { return }
      log.append(Unmanaged<Worker>.fromOpaque(worker).takeUnretainedValue().band)
    }
    source.activate()
    source.add(data: 1)
    #expect(log.waitForCount(2))
    source.cancel()
    return log.all
  }

  @Test(arguments: [Band.background, .utility, .userInitiated, .userInteractive])
  func `is the QoS of the events that it submits`(band: Band) {
    let qos: [Band: DispatchQoS] = [
      .background: .background, .utility: .utility, .userInitiated: .userInitiated,
      .userInteractive: .userInteractive,
    ]
    let seen = classes(on: nil) { source, handler in
      source.setEventHandler(qos: qos[band] ?? .default, handler: handler)
    }
    #expect(seen == [band, band])
  }

  @Test func `gives way to the queue's own, unless it is enforced`() {
    let queue = DispatchQueue(label: "utility", qos: .utility)
    let plain = classes(on: queue) { $0.setEventHandler(qos: .userInitiated, handler: $1) }
    #expect(plain.first == .utility)
    let enforced = classes(on: queue) {
      $0.setEventHandler(qos: .userInitiated, flags: .enforceQoS, handler: $1)
    }
    #expect(enforced.first == .userInitiated)
  }

  @Test func `is a work item's own where the handler is one`() {
    let seen = classes(on: nil) { source, handler in
      source.setEventHandler(handler: DispatchWorkItem(qos: .userInitiated, block: handler))
    }
    #expect(seen == [.userInitiated, .userInitiated])
  }

  /// In a process of its own, without another timer that could wake the waiting one.
  @Test func `allows a timer to wait for another's time`() async {
    await #expect(processExitsWith: .exitCode(0)) {
      let lenient = DispatchSource.makeTimerSource()
      let strict = DispatchSource.makeTimerSource(flags: .strict)
      let done = Latch(2)
      let deadline = DispatchTime.now() + .seconds(1)
      let later = deadline + .milliseconds(20)
      let isEarly = Box(false)
      lenient.setEventHandler(qos: .background) {
        isEarly.value = .now() < later
        done.open()
      }
      strict.setEventHandler { done.open() }
      lenient.schedule(deadline: deadline)
      strict.schedule(deadline: later)
      lenient.activate()
      strict.activate()
      // The class allows a leeway of a tenth of the time that remained when the timer was armed.
      let isSlow = DispatchTime.now() > deadline - .milliseconds(300)
      exit(done.wait() && (isSlow || !isEarly.value) ? 0 : 1)
    }
  }
}
