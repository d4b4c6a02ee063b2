// Room: Models/Monitors. The monitor's thread: when it sleeps, when it is made, when it is refused.
// Invariant: while work waits, the monitor does not sleep, or a retry for its refused thread is
// kept.
// Protocol: Pool/MonitorMode: a submitter stores work and then reads the mode, the monitor
// stores the mode and then looks for work.

extension Catalogue {
  static var monitors: [EngineModel] {
    [
      EngineModel("monitor: it does not sleep while work waits") { scene in
        let pool = Pool.small(monitorMode: .watching)
        let job = Job()
        // No worker may become active, so the submitter relies on the monitor.
        pool.width.store(0, ordering: .relaxed)
        scene.thread("submitter") {
          pool.publish(job)
          pool.wakeIfNeeded()
        }
        scene.thread("monitor") { pool.monitor.rest(pool) }
        scene.finally {
          Checker.expect(pool.monitor.mode.load(ordering: .relaxed) == .watching, "it rests")
        }
      },
      EngineModel("monitor: the width changes while it goes to rest") { scene in
        let pool = Pool.small(threads: 8, mask: 2, monitorMode: .watching)
        let job = Job()
        // The last look has added some.
        pool.beyondWidth.store(3, ordering: .relaxed)
        pool.raisedThreads.store(8, ordering: .relaxed)
        // The monitor stays awake.
        pool.publish(job)
        scene.thread("follows the mask") { pool.followMask() }
        scene.thread("monitor") { pool.monitor.rest(pool) }
        scene.keep(job)
        scene.finally {
          Checker.expect(pool.allowance == 2, "\(pool.allowance) workers may use two CPUs")
          Checker.expect(pool.threadAllowance == 6, "\(pool.threadAllowance) threads may be made")
        }
      },
      EngineModel(
        "monitor: work submitted while its thread was refused is retried",
        adjust: Allow.refusals(1)
      ) { scene in
        let pool = Pool.small(monitorMode: .absent)
        let job = Job()
        scene.thread("idle worker") { pool.monitor.prepare(pool) }
        scene.thread("submitter") {
          pool.publish(job)
          pool.monitor.watch(pool)
        }
        scene.finally {
          let isKept = pool.endRetries()
          Checker.expect(
            isKept || pool.monitor.mode.load(ordering: .relaxed) == .starting,
            "work waits, and no thread will look for it")
        }
      },
    ]
  }

  static var monitorMutants: [Mutant] {
    let rest = "monitor: it does not sleep while work waits"
    return [
      Mutant(
        "the monitor sleeps without sequential consistency", in: "Monitor.swift",
        at: "mode.transition(.sequentiallyConsistent, to: { $0.resting() }", .dropsSequential,
        foundBy: rest,
        isWeak: true),
      Mutant(
        "the monitor rests and keeps workers beyond the width", in: "Monitor.swift",
        at: "pool.beyondWidth.store(0", .skips,
        foundBy: "monitor: the width changes while it goes to rest"),
      Mutant(
        "the monitor is not woken", in: "Monitor.swift", at: "futexWake(mode)", .skips,
        foundBy: rest),
      Mutant(
        "a submitter reads a stale mode", in: "Monitor.swift",
        at: "let seen = mode.load(ordering: .sequentiallyConsistent)", .relaxes, foundBy: rest,
        isWeak: true),
      Mutant(
        "a refused monitor is given up without sequential consistency", in: "Monitor.swift",
        at: "mode.transition(.sequentiallyConsistent, to: { $0.refused() }", .dropsSequential,
        foundBy: "monitor: work submitted while its thread was refused is retried",
        isWeak: true),
    ]
  }
}
