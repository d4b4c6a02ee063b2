import CGrandCentralLinux
import GrandCentralPrimitives
import TestSupport
import Testing

@Suite("A parked thread") struct ParkerTests {
  /// A thread that prepares to park, publishes its context, waits for `proceed`, then runs `body`.
  private final class Parked: @unchecked Sendable {
    let proceed = Latch()
    private let prepared = Latch()
    private let context = Box<UInt>(0)
    private var thread: TestThread?
    let results = Log<Bool>()

    init(_ body: @escaping @Sendable (ThreadContext) -> Bool) {
      thread = TestThread("parked") { [self] in
        let own = currentThread()
        Parker.prepare(own)
        context.value = UInt(bitPattern: own)
        prepared.open()
        _ = proceed.wait()
        results.append(body(own))
      }
    }

    var target: ThreadContext {
      #expect(prepared.wait())
      return ThreadContext(bitPattern: context.value)!
    }

    var isAsleep: Bool {
      // 2: the thread has announced that it sleeps.
      target.shared.parker.load(ordering: .relaxed) == 2
        && PrimitivesTests.isAsleep(target.shared.threadID.load(ordering: .relaxed))
    }

    func join() -> Bool { thread?.join() ?? false }
  }

  @Test(arguments: [false, true])
  func `does not sleep when the grant came first`(hasDeadline: Bool) {
    let parked = Parked { Parker.sleep($0, until: hasDeadline ? .past(isWall: false) : nil) }
    Parker.grant(parked.target)
    #expect(Parker.isGranted(parked.target))
    parked.proceed.open()
    #expect(parked.join())
    #expect(parked.results.all == [true])
  }

  @Test(arguments: [nil, false, true])
  func `continues when the grant comes while it sleeps`(isWallDeadline: Bool?) {
    let deadline = isWallDeadline.map { Deadline.inSeconds(3600, isWall: $0) }
    let parked = Parked { Parker.sleep($0, until: deadline) }
    parked.proceed.open()
    #expect(eventually { parked.isAsleep })
    #expect(!Parker.isGranted(parked.target))
    Parker.grant(parked.target)
    #expect(parked.join())
    #expect(parked.results.all == [true])
  }

  @Test(arguments: [false, true])
  func `continues without a grant at its deadline`(isWall: Bool) {
    let parked = Parked { Parker.sleep($0, until: .past(isWall: isWall)) }
    parked.proceed.open()
    #expect(parked.join())
    #expect(parked.results.all == [false])
  }

  @Test func `can sleep on after its deadline`() {
    let timedOut = Latch()
    let parked = Parked { thread in
      let first = Parker.sleep(thread, until: .past(isWall: false))
      timedOut.open()
      return !first && Parker.sleep(thread)
    }
    parked.proceed.open()
    #expect(timedOut.wait())
    #expect(eventually { parked.isAsleep })
    Parker.grant(parked.target)
    #expect(parked.join())
    #expect(parked.results.all == [true])
  }

  @Test func `sees all that was written before the grant, in each of many rounds`() {
    let rounds = stressed(5000)
    let value = Unguarded(0)
    let wrong = Counter()
    let turn = SharedWord<Int>(0)
    let context = SharedWord<UInt>(0)
    let ended = onThreads(2) { number in
      if number == 0 {
        let own = currentThread()
        for round in 1...rounds {
          Parker.prepare(own)
          context.atomic.store(UInt(bitPattern: own), ordering: .relaxed)
          turn.atomic.store(round, ordering: .releasing)
          if round % 3 == 0 { while !Parker.isGranted(own) { spinHint() } }
          if !Parker.sleep(own) || value.value != round { wrong.add() }
        }
      } else {
        for round in 1...rounds {
          while turn.atomic.load(ordering: .acquiring) < round { spinHint() }
          value.value = round
          Parker.grant(ThreadContext(bitPattern: context.atomic.load(ordering: .relaxed))!)
        }
      }
    }
    #expect(ended)
    #expect(wrong.value == 0)
  }
}
