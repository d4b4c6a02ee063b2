import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A separate engine") struct OwnRuntimeTests {
  @Test func `has a root for each band, shared with no other engine`() {
    let runtime = Runtime(pool: .own(width: 1, threads: 1))
    #expect(runtime.roots.count == Band.allCases.count)
    for band in Band.allCases {
      #expect(runtime.root(band) !== Runtime.shared.root(band))
      #expect(runtime.root(band).label == Runtime.shared.root(band).label)
    }
  }

  @Test func `runs queues on its own pool`() {
    let pool = Pool.own(width: 1, threads: 1)
    let runtime = Runtime(pool: pool)
    let queue = DispatchQueue(label: "test.own", target: runtime.root(.utility))
    let done = Latch(2)
    let log = Log<Bool>()
    queue.async {
      log.append(currentThread().pointee.worker == pool.worker(at: 0).map(address))
      done.open()
    }
    queue.async { done.open() }
    #expect(done.wait())
    #expect(log.all == [true])
    #expect(pool.faultsAtRest() == [])
    withExtendedLifetime(runtime) {}
  }
}

private func address(_ worker: Worker) -> UnsafeMutableRawPointer {
  Unmanaged.passUnretained(worker).toOpaque()
}

@Suite("The environment") struct EnvironmentTests {
  @Test func `fixes the width and the number of threads`() async {
    await #expect(processExitsWith: .exitCode(0)) {
      setenv("GRANDCENTRAL_WIDTH", "3", 1)
      setenv("GRANDCENTRAL_THREADS", "7", 1)
      let made = Pool.Configuration.fromEnvironment()
      let isRight =
        made.width == 3 && made.readWidth == nil && made.readMask == nil && made.maxThreads == 7
        && made.softThreads == 7 && made.firstThreads(width: 3) == 7
      exit(isRight ? 0 : 1)
    }
  }

  @Test func `cannot make the pool wider than its threads`() async {
    await #expect(processExitsWith: .exitCode(0)) {
      setenv("GRANDCENTRAL_WIDTH", "100000", 1)
      setenv("GRANDCENTRAL_THREADS", "2", 1)
      let made = Pool.Configuration.fromEnvironment()
      exit(made.width == 2 && made.maxThreads == 2 && made.softThreads == 2 ? 0 : 1)
    }
  }

  @Test(arguments: [
    ("1", 1), ("+7", 7), ("511", 511), ("513", 512), ("9223372036854775807", 512),
    ("9223372036854775808", 512), ("99999999999999999999", 512), ("+99999999999999999999", 512),
    ("0", nil), ("-1", nil), ("-99999999999999999999", nil), ("", nil), ("+", nil), ("1e3", nil),
    ("99999999999999999999x", nil), ("many", nil),
  ])
  func `with a number beyond the maximum means the maximum`(text: String, value: Int?) {
    #expect(Pool.Configuration.positive(in: text, atMost: 512) == value)
  }

  @Test func `without a width leaves it to follow the machine`() async {
    await #expect(processExitsWith: .exitCode(0)) {
      unsetenv("GRANDCENTRAL_WIDTH")
      unsetenv("GRANDCENTRAL_THREADS")
      let made = Pool.Configuration.fromEnvironment()
      let machine = CPULimits.machine.width()
      exit(made.width == machine && made.readWidth?() == machine ? 0 : 1)
    }
  }

  @Test func `with an invalid value is reported and ignored`() async {
    let result = await #expect(
      processExitsWith: .exitCode(0), observing: [\.standardErrorContent]
    ) {
      setenv("GRANDCENTRAL_WIDTH", "many", 1)
      setenv("GRANDCENTRAL_THREADS", "0", 1)
      let made = Pool.Configuration.fromEnvironment()
      exit(made.width == CPULimits.machine.width() && made.maxThreads == 1000 ? 0 : 1)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("GRANDCENTRAL_WIDTH='many' is not a positive number"))
    #expect(text.contains("GRANDCENTRAL_THREADS='0' is not a positive number"))
  }

  @Test func `with a word that it does not take is reported`() async {
    let result = await #expect(
      processExitsWith: .exitCode(0), observing: [\.standardErrorContent]
    ) {
      setenv("GRANDCENTRAL_EFFECTS", "all", 1)
      setenv("GRANDCENTRAL_OVERRIDES", "off", 1)
      setenv("GRANDCENTRAL_RECORD", "", 1)
      _ = Runtime.shared
      exit(0)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("GRANDCENTRAL_EFFECTS='all' is not 'none' and is ignored."))
    #expect(
      text.contains(
        "GRANDCENTRAL_RECORD='' is not 'items' or 'sampled' or 'origins' and is ignored."))
    #expect(!text.contains("GRANDCENTRAL_OVERRIDES"))
  }
}
