// Room: Pool/Pool+Shortage. What happens when the system refuses a thread.
// pthread_create(3) returns EAGAIN at a limit on processes or on memory. What is queued stays queued, and
// somebody tries again:
//   a worker       that comes to the end of its item takes what is queued: with one, nothing is lost
//   the monitor    at each look while work waits, ever less often, each 64 ms in the end. It is made before
//                  there is need of it, when a worker first goes idle, for in need it may be refused
//   an idle worker the last one stays where there is no monitor, and tries to make it when it would leave
//   who sleeps     in any wait of the engine, dispatchMain() included, where work waits and the monitor
//                  cannot be had (Vigil)
//   who submits    next to an idle queue, if a millisecond has passed: asking in vain costs tens of
//                  microseconds
// So a pool that once had a thread goes on by itself. What remains: a process that never got one, whose
// own threads all sleep outside the engine, or fell asleep in it before the refusal, and that submits to no
// idle queue any more. Its work waits. Only a signal could end that, by a timer, and the signals are the
// program's: its system calls would return EINTR, its masks and handlers would be in our way.
// Not: run the work on the thread that submits or waits. It may hold locks of the program's that the work
// wants, and no program expects its closures there.

extension Pool: Vigilant {
  private static var refusalNanoseconds: UInt64 { 1_000_000 }

  /// Starts a thread. Returns 0 or an errno.
  func spawn(_ body: ThreadBody, _ argument: UnsafeMutableRawPointer, stackBytes: Int) -> Int32 {
    let error = ThreadEffects.withoutEffect(on: currentThread()) {
      configuration.spawn(body, argument, stackBytes)
    }
    if error != 0 {
      refusals.wrappingAdd(1, ordering: .relaxed)
      refusedUntil.store(
        Clock.monotonicNanoseconds() + Self.refusalNanoseconds, ordering: .relaxed)
    } else if refusedUntil.load(ordering: .relaxed) != 0 {
      refusedUntil.store(0, ordering: .relaxed)
    }
    return error
  }

  /// Whether a thread was refused so lately that it is no use to ask for another.
  var isRefused: Bool {
    let until = refusedUntil.load(ordering: .relaxed)
    return until != 0 && Clock.monotonicNanoseconds() < until
  }

  /// Whether the last thread that was asked for was refused.
  var isRefusedLately: Bool { refusedUntil.load(ordering: .relaxed) != 0 }

  /// Work waits, and there is no monitor to look after it.
  func keepVigil() { keepVigil(for: self) }

  /// Sleeping threads look after `keeper`, which could not get a thread of its own; the main thread too.
  func keepVigil(for keeper: any Vigilant) {
    Vigil.begin(keeper)
    whenVigilBegins?()
  }

  func attend() {
    if isRefused { return }
    guard hasWork() else {
      Vigil.end(self)
      // Whoever published work and then began the vigil anew did so before this look, or after it. If
      // before, a main thread that was called to the vigil may have found none: it is called again.
      if hasWork() { keepVigil() }
      return
    }
    // A worker before the monitor: one thread that may be had is of more use as a worker.
    wakeIfNeeded()
    monitor.isThere ? Vigil.end(self) : monitor.watch(self)
  }

  /// Says, once, that a thread was refused, and what to do about it.
  func reportRefusal(_ error: Int32) {
    guard !reportedRefusal.exchange(true, ordering: .relaxed) else { return }
    let workers = state.load(ordering: .relaxed).threads
    let rest =
      workers > 0
      ? "Work goes on with the \(workers) worker thread(s) that there are."
      : "There is no worker thread: queued work waits, and sync() runs on its caller."
    report(
      .threadRefused,
      """
      GRAND CENTRAL: The system refused a thread (errno \(error), pthread_create(3)). \(rest) It is \
      asked again while work waits.
      Raise the limit on threads (ulimit -u, pids.max of the control group, TasksMax of the systemd \
      unit) or on memory (ulimit -v, memory.max), or bound the threads with GRANDCENTRAL_THREADS.
      """)
  }
}
