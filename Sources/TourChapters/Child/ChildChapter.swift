// Purpose: the chapter of the supervised child. One service fails in three ways and then works, one
// always fails, and SIGTERM ends child and supervisor in order.

import GrandCentral
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

struct ChildChapter {
  let report: ChapterReport

  private static let failures: [Service] = [Service(.exits), Service(.aborts), Service(.isKilled)]

  func run() {
    superviseUntilSignalled()
    superviseInVain()
  }

  private func superviseUntilSignalled() {
    let plan = Supervisor.Plan(
      runs: Self.failures + [Service(.stays)], maxRestarts: 5, firstDelayMilliseconds: 40)
    let log = SupervisorLog(report)
    let supervisor = Supervisor(plan) { log.note($0) }
    signal(SIGTERM, SIG_IGN)
    let terminate = DispatchSource.makeSignalSource(
      signal: SIGTERM, queue: DispatchQueue(label: "tour.signals"))
    let isCancelled = DispatchSemaphore(value: 0)
    terminate.setEventHandler { [report] in
      report.tell("the tour hears SIGTERM, \(Wording.count(terminate.data, "time"))")
      supervisor.stop()
    }
    terminate.setCancelHandler { isCancelled.signal() }
    terminate.activate()
    supervisor.start()
    let isReady = log.wait(for: .said("ready"))
    report.check(isReady, "the fourth run works", otherwise: "it did not say so")
    kill(getpid(), SIGTERM)
    let hasStopped = log.wait(for: .stopped)
    report.check(hasStopped, "the supervisor has ended", otherwise: "it has not")
    terminate.cancel()
    isCancelled.wait()
    // The chapter has handled SIGTERM. From here on SIGTERM ends this process, as usual.
    signal(SIGTERM, SIG_DFL)
    var expected: [Supervisor.Event] = []
    for (index, service) in Self.failures.enumerated() {
      expected += [.started(run: index + 1), .ended(service.ending ?? .exited(0))]
      expected.append(.willRestart(afterMilliseconds: plan.firstDelayMilliseconds << index))
    }
    expected += [
      .started(run: 4), .said("ready"), .askedToStop, .said("asked to stop"), .ended(.exited(0)),
      .stopped,
    ]
    check(log, expected, "each end was reaped and told, and after SIGTERM first the child left")
  }

  private func superviseInVain() {
    let plan = Supervisor.Plan(
      runs: [Service(.exits)], maxRestarts: 3, firstDelayMilliseconds: 20)
    let log = SupervisorLog(report)
    let supervisor = Supervisor(plan) { log.note($0) }
    supervisor.start()
    let gaveUp = log.wait(for: .gaveUp)
    report.check(gaveUp, "who only fails is given up", otherwise: "not in a minute")
    var expected: [Supervisor.Event] = []
    for run in 1...4 {
      expected += [.started(run: run), .ended(.exited(3))]
      expected.append(run == 4 ? .gaveUp : .willRestart(afterMilliseconds: 20 << (run - 1)))
    }
    check(log, expected, "after three restarts")
  }

  private func check(_ log: SupervisorLog, _ expected: [Supervisor.Event], _ claim: String) {
    let events = log.events
    report.check(
      events == expected, claim,
      otherwise: "\(events.map(\.words).joined(separator: "; "))")
    let early = log.earlyRestarts
    report.check(
      early.isEmpty, "no restart came before its delay was over",
      otherwise: early.joined(separator: ", "))
  }
}
