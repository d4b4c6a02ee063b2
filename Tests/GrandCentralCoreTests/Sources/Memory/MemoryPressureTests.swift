// The hub of memory pressure sources on a simulated machine: its files are strings, and its
// triggers are sockets.
import Glibc
import GrandCentralPrimitives
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("Memory pressure") struct MemoryPressureTests {
  @Test func `is notified as it rises and falls, each level once`() {
    let machine = Machine()
    let hub = machine.hub()
    let listener = Listener()
    hub.join(listener.entry, on: currentThread())
    machine.ring(.stall(Machine.stalls, .warning))
    #expect(listener.log.waitForCount(2))
    machine.ring(.stall(Machine.stalls, .critical))
    #expect(listener.log.waitForCount(3))
    hub.leave(listener.entry)
    // The next reading finds no stalls, so each level ends by itself.
    #expect(listener.log.all.prefix(2) == [.warning, .normal])
    #expect(listener.log.all[2] == .critical)
  }

  @Test func `by a group's use is reported while it lasts`() {
    let machine = Machine()
    let hub = machine.hub()
    let listener = Listener()
    hub.join(listener.entry, on: currentThread())
    machine.use(86)
    machine.ring(.change("/cg/g/memory.events"))
    #expect(listener.log.waitForCount(1))
    machine.use(96)
    #expect(listener.log.waitForCount(2))
    machine.use(82)
    #expect(listener.log.waitForCount(3))
    machine.use(10)
    #expect(listener.log.waitForCount(4))
    #expect(listener.log.all == [.warning, .critical, .warning, .normal])
    hub.leave(listener.entry)
  }

  @Test func `that existed before is reported to new sources`() {
    let machine = Machine()
    machine.use(97)
    let hub = machine.hub()
    let first = Listener()
    let second = Listener()
    hub.join(first.entry, on: currentThread())
    hub.join(second.entry, on: currentThread())
    #expect(first.log.all == [.critical] && second.log.all == [.critical])
    hub.leave(first.entry)
    machine.use(1)
    #expect(second.log.waitForCount(2))
    #expect(first.log.all == [.critical] && second.log.all == [.critical, .normal])
    hub.leave(second.entry)
    hub.leave(second.entry)
  }

  @Test func `by a killed process is critical, and then ends`() {
    let machine = Machine()
    let hub = machine.hub()
    let listener = Listener()
    hub.join(listener.entry, on: currentThread())
    machine.files.value["/cg/g/memory.events"] = "oom_kill 1\n"
    machine.ring(.change("/cg/g/memory.events"))
    #expect(listener.log.waitForCount(2))
    #expect(listener.log.all == [.critical, .normal])
    hub.leave(listener.entry)
  }

  @Test func `opens its triggers for the first and closes them after the last`() {
    let machine = Machine()
    let hub = machine.hub()
    for _ in 0..<3 {
      let listeners = [Listener(), Listener()]
      for listener in listeners { hub.join(listener.entry, on: currentThread()) }
      #expect(machine.wakeDescriptors.value.count == 3)
      let wakeDescriptors = machine.wakeDescriptors.value.values.map { fcntl($0, F_GETFD) }
      #expect(!wakeDescriptors.contains(-1))
      for listener in listeners { hub.leave(listener.entry) }
      #expect(machine.opened.value % 3 == 0)
    }
    #expect(machine.opened.value == 9)
  }

  @Test func `continues without triggers that are refused`() {
    let machine = Machine()
    machine.errors.value = [.stall(Machine.stalls, .warning): EACCES]
    let hub = machine.hub()
    let listener = Listener()
    hub.join(listener.entry, on: currentThread())
    machine.ring(.stall(Machine.stalls, .critical))
    #expect(listener.log.waitForCount(1))
    #expect(listener.log.all.first == .critical)
    hub.leave(listener.entry)
  }

  @Test(arguments: [EMFILE, ENOMEM])
  func `retries descriptors that were refused`(error: Int32) {
    let machine = Machine()
    let trigger = MemoryTrigger.stall(Machine.stalls, .critical)
    machine.errors.value = [trigger: error]
    let hub = machine.hub()
    let listener = Listener()
    hub.join(listener.entry, on: currentThread())
    #expect(machine.wakeDescriptors.value.count == 1)
    machine.errors.value = [:]
    #expect(eventually { machine.wakeDescriptors.value.count == 3 })
    #expect(eventually { machine.ring(trigger) && listener.log.count > 0 })
    #expect(listener.log.all.first == .critical)
    hub.leave(listener.entry)
  }

  @Test func `that the kernel does not report is itself reported once`() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      let hub = MemoryPressure(
        poller: Reactor.shared.poller, timers: Reactor.shared.monotonic,
        kernel: MemoryKernel(read: { _ in nil }, open: { _ in -ENOENT }))
      for _ in 0..<3 {
        let listener = Listener()
        hub.join(listener.entry, on: currentThread())
        hub.leave(listener.entry)
        if listener.log.count > 0 { exit(1) }
      }
    }
    let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(errors.split(separator: "\n").filter { $0.contains("memory pressure here") }.count == 1)
    #expect(errors.contains("psi=1"))
  }

  @Test func `sources come and go while triggers fire`() {
    let machine = Machine()
    let hub = machine.hub()
    #expect(
      onThreads(4) { number in
        for _ in 0..<200 {
          if number == 0 {
            machine.ring(.stall(Machine.stalls, .warning))
          } else {
            let listener = Listener()
            hub.join(listener.entry, on: currentThread())
            hub.leave(listener.entry)
          }
        }
      })
    let last = Listener()
    hub.join(last.entry, on: currentThread())
    #expect(eventually { machine.ring(.stall(Machine.stalls, .critical)) && last.log.count > 0 })
    hub.leave(last.entry)
  }
}

/// A machine with one control group, whose limit is 100 bytes.
private final class Machine: @unchecked Sendable {
  static let stalls = "/cg/g/memory.pressure"
  let files: Box<[String: String]>
  let wakeDescriptors = Box<[MemoryTrigger: Int32]>([:])
  let errors = Box<[MemoryTrigger: Int32]>([:])
  let opened = Box(0)
  private let monitor = Monitor()

  init() {
    files = Box([
      "/proc/self/cgroup": "0::/g\n",
      "/proc/self/mountinfo": "30 24 0:26 / /cg rw shared:4 - cgroup2 cgroup2 rw\n",
      Self.stalls: "some avg10=0 total=0\nfull avg10=0 total=0\n",
      "/cg/g/memory.max": "100\n", "/cg/g/memory.current": "10\n",
      "/cg/g/memory.events": "oom_kill 0\n",
    ])
  }

  func hub() -> MemoryPressure {
    MemoryPressure(
      poller: Reactor.shared.poller, timers: Reactor.shared.monotonic,
      kernel: MemoryKernel(
        read: { self.files.value[$0] },
        open: { trigger in
          if let error = self.errors.value[trigger] { return -error }
          // A trigger's file in /proc becomes ready with priority data. A pair of sockets does the
          // same when one of them sends urgent data.
          let (own, other) = Self.pair()
          self.monitor.withLock {
            if let old = self.wakeDescriptors.value.updateValue(other, forKey: trigger) {
              close(old)
            }
          }
          self.opened.value += 1
          return own
        }), pace: MemoryPressure.Pace(shortest: 1_000_000, whileScarce: 2_000_000))
  }

  deinit { for wakeDescriptor in wakeDescriptors.value.values { close(wakeDescriptor) } }

  func use(_ bytes: Int) { files.value["/cg/g/memory.current"] = "\(bytes)\n" }

  /// Signals a trigger, as the kernel does. poll(2) reports urgent data as priority data.
  @discardableResult
  func ring(_ trigger: MemoryTrigger) -> Bool {
    monitor.withLock {
      guard let wakeDescriptor = wakeDescriptors.value[trigger] else { return false }
      return send(wakeDescriptor, "!", 1, Int32(MSG_OOB) | Int32(MSG_NOSIGNAL)) == 1
    }
  }

  /// Two sockets connected by TCP, which has urgent data.
  private static func pair() -> (Int32, Int32) {
    let stream = Int32(SOCK_STREAM.rawValue)
    let listener = socket(AF_INET, stream, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let other = socket(AF_INET, stream, 0)
    let own = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        guard bind(listener, raw, size) == 0, listen(listener, 1) == 0,
          getsockname(listener, raw, &size) == 0, connect(other, raw, size) == 0
        else { fatalError("socket: errno \(errno)") }
        return accept(listener, nil, nil)
      }
    }
    close(listener)
    return (own, other)
  }
}

private final class Listener: MemoryListener, @unchecked Sendable {
  let entry = MemoryEntry()
  let log = Log<MemoryLevel>()

  init() { entry.listener = self }

  func memoryPressureIs(_ level: MemoryLevel, on thread: ThreadContext) { log.append(level) }
}
