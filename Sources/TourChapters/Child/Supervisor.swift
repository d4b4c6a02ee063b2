// Purpose: keeps a service running. A process source reports the end of the service. The supervisor
// reaps it and starts it again after a growing delay, a limited number of times. When the
// supervisor is stopped, it first ends the service.
//   started ─exit→ waiting ─timer→ started … ─too often→ gave up
//      └─stop→ ending ─exit→ stopped          (SIGKILL after a timeout)

import GrandCentral
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// SAFETY: every variable is only touched by items and handlers of `queue`.
final class Supervisor: @unchecked Sendable {
  enum Event: Equatable, Sendable {
    case started(run: Int)
    case said(String)
    case ended(Ending)
    case willRestart(afterMilliseconds: Int)
    case askedToStop
    case gaveUp
    case stopped
  }

  struct Plan: Sendable {
    /// The service's runs in order; the last one repeats.
    var runs: [Service]
    var maxRestarts: Int
    var firstDelayMilliseconds: Int
  }

  private let plan: Plan
  private let queue = DispatchQueue(label: "tour.supervisor")
  private let whenHappened: (Event) -> Void
  private var run = 0
  private var child: pid_t?
  private var output: (any DispatchSourceRead)?
  /// The timer for the next restart, or for the SIGKILL after a stop.
  private var timer: (any DispatchSourceTimer)?
  private var input: Int32 = -1
  /// Called when all output of the run is read and its pipe is closed.
  private var whenSilent: (() -> Void)?
  private var isStopping = false
  private var isOver = false

  /// - Parameter whenHappened: called for each event in order, on the supervisor's queue.
  init(_ plan: Plan, whenHappened: @escaping (Event) -> Void) {
    self.plan = plan
    self.whenHappened = whenHappened
  }

  func start() { queue.async { self.startRun() } }

  /// Ends the service, then the supervision.
  func stop() { queue.async { self.beginStopping() } }

  // MARK: On the queue

  private func startRun() {
    timer = nil
    run += 1
    var outputEnds: [Int32] = [0, 0]
    var inputEnds: [Int32] = [0, 0]
    guard pipe(&outputEnds) == 0, pipe(&inputEnds) == 0 else { return finish(.gaveUp) }
    for end in outputEnds + inputEnds { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let service = plan.runs[min(run, plan.runs.count) - 1]
    let spawn = Spawn.itself(service.arguments)
      .passing(inputEnds[0], as: STDIN_FILENO).passing(outputEnds[1], as: STDOUT_FILENO)
    whenHappened(.started(run: run))
    let started = WatchedProgram.start(spawn, on: queue) { self.ended($0) }
    close(outputEnds[1])
    close(inputEnds[0])
    input = inputEnds[1]
    listen(to: outputEnds[0])
    guard case .success(let process) = started else { return ended(.exited(127)) }
    child = process
  }

  /// Reads the service's output until the service closes its end of the pipe.
  private func listen(to descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler { [self] in
      if !hear(descriptor) { source.cancel() }
    }
    source.setCancelHandler { [self] in
      close(descriptor)
      output = nil
      whenSilent.take()?()
    }
    output = source
    source.activate()
  }

  /// Reads one piece of output. Returns false at the end, and on errors but EAGAIN and EINTR.
  private func hear(_ descriptor: Int32) -> Bool {
    var bytes = [UInt8](repeating: 0, count: 1024)
    let count = read(descriptor, &bytes, bytes.count)
    if count < 0 { return errno == EAGAIN || errno == EINTR }
    for line in bytes.prefix(count).split(separator: UInt8(ascii: "\n")) {
      whenHappened(.said(String(decoding: line, as: UTF8.self)))
    }
    return count > 0
  }

  private func ended(_ ending: Ending) {
    child = nil
    close(input)
    guard let output else { return goOn(after: ending) }
    // Output may remain in the pipe. The service has closed its end, so reading does not block.
    if !output.isCancelled {
      // A read that succeeds leaves errno as it was.
      errno = 0
      while hear(Int32(output.handle)), errno != EAGAIN {}
      output.cancel()
    }
    whenSilent = { self.goOn(after: ending) }
  }

  /// Continues after a run: its process is reaped and its pipes are closed.
  private func goOn(after ending: Ending) {
    whenHappened(.ended(ending))
    if isStopping { return finish(.stopped) }
    if run > plan.maxRestarts { return finish(.gaveUp) }
    let delay = plan.firstDelayMilliseconds << (run - 1)
    whenHappened(.willRestart(afterMilliseconds: delay))
    after(milliseconds: delay) { self.startRun() }
  }

  private func beginStopping() {
    if isStopping || isOver { return }
    isStopping = true
    timer?.cancel()
    whenHappened(.askedToStop)
    guard let child else { return finish(.stopped) }
    // The child is not reaped yet, so its process ID still names it.
    kill(child, SIGTERM)
    after(milliseconds: 5000) { [self] in
      if let child = self.child { kill(child, SIGKILL) }
    }
  }

  private func finish(_ event: Event) {
    isOver = true
    timer?.cancel()
    timer = nil
    whenHappened(event)
  }

  private func after(milliseconds: Int, _ body: @escaping @Sendable () -> Void) {
    let source = DispatchSource.makeTimerSource(queue: queue)
    source.schedule(deadline: .now() + .milliseconds(milliseconds))
    source.setEventHandler {
      source.cancel()
      body()
    }
    timer = source
    source.activate()
  }
}
