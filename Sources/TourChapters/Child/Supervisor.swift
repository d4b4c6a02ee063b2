// Purpose: keeps a service running. It starts the service, learns of its end from a process source,
// reaps it, and starts it again after a delay that grows, a limited number of times. Asked to stop,
// it ends the service first.
//   started ─exit→ waiting ─timer→ started … ─too often→ gave up
//      └─stop→ ending ─exit→ stopped          (SIGKILL after a timeout)

import GrandCentral
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// SAFETY: everything that changes is only touched by items and handlers of `queue`.
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
    /// The service's runs in order; the last one for all that follow.
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
  /// The timer for a restart, or for the end of patience.
  private var timer: (any DispatchSourceTimer)?
  private var input: Int32 = -1
  /// What comes when what a run said has been heard, and its pipe is closed.
  private var whenSilent: (() -> Void)?
  private var isStopping = false
  private var isOver = false

  /// - Parameter whenHappened: called for each event in order, on the supervisor's queue.
  init(_ plan: Plan, whenHappened: @escaping (Event) -> Void) {
    self.plan = plan
    self.whenHappened = whenHappened
  }

  func start() { queue.async { self.startRun() } }

  /// Ends the service, and then the supervision.
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

  /// Takes in what the service says, until it has closed its end.
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

  /// False at the end.
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
    // It may have said something just before; its end of the pipe is closed, so this does not wait.
    if !output.isCancelled {
      while hear(Int32(output.handle)), errno != EAGAIN {}
      output.cancel()
    }
    whenSilent = { self.goOn(after: ending) }
  }

  /// Nothing of the last run is left: neither its number nor its pipes.
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
    // Not yet reaped, so the number is still its own.
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
