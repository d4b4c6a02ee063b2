// Room: Models/FileRings. The thread that submits transfers: its sleeps and its wake-ups.
// Invariant: each operation ends once, also one that is stopped in any state or refused by the
// kernel, and all slots are free at the end.
// Protocol: the head of IO/FileRing, "Before the ring thread sleeps".

extension Catalogue {
  static var fileRings: [EngineModel] {
    [
      EngineModel(
        "file ring: a submission is executed while the thread falls asleep",
        reach: .bounded(preemptions: 2)
      ) { scene in
        let stage = FileRingScene(.atOnce)
        for number in 0..<2 { scene.thread("submitter \(number)") { stage.submit() } }
        scene.finally { stage.expectAllOver() }
      },
      EngineModel(
        "file ring: a completion is seen while the thread falls asleep",
        reach: .bounded(preemptions: 2)
      ) { scene in
        let stage = FileRingScene(.later)
        stage.addPoller(scene)
        scene.thread("submitter") { stage.submit() }
        scene.finally { stage.expectAllOver() }
      },
      EngineModel(
        "file ring: an operation that waits for a slot gets the next free one",
        reach: .bounded(preemptions: 2)
      ) { scene in
        let stage = FileRingScene(.later, slots: 1)
        stage.addPoller(scene)
        scene.thread("submitter") { for _ in 0..<2 { stage.submit() } }
        scene.finally { stage.expectAllOver() }
      },
      EngineModel(
        "file ring: a stopped operation ends once, in any state", reach: .bounded(preemptions: 2)
      ) { scene in
        let stage = FileRingScene(.never)
        stage.addPoller(scene)
        scene.thread("stopper") { stage.stop(stage.submit()) }
        scene.finally { stage.expectAllOver() }
      },
      EngineModel(
        "file ring: a refused cancellation is retried",
        reach: .bounded(preemptions: 1),
        adjust: Allow.timeAndRefusal
      ) { scene in
        let stage = FileRingScene(.never)
        stage.addPoller(scene)
        stage.addClock(scene)
        scene.thread("stopper") { stage.stop(stage.submit()) }
        scene.finally { stage.expectAllOver() }
      },
    ]
  }

  static var fileRingMutants: [Mutant] {
    let submitted = "file ring: a submission is executed while the thread falls asleep"
    return [
      Mutant(
        "the sleeping flag is not visible", in: "FileRing.swift",
        at: "@Cell private var isAsleep", .returns(0), foundBy: submitted),
      Mutant(
        "the thread is never created", in: "FileRing.swift", at: "@Cell private var hasThread",
        .returns(1), foundBy: submitted),
      Mutant(
        "a grant wakes no thread", in: "Parker.swift", at: "{ futexWake(shared.parker) }", .skips,
        foundBy: submitted),
      Mutant(
        "the thread that frees a slot wakes no thread", in: "FileRing.swift",
        at: "@Cell private var isAsleep",
        .returns(0), foundBy: "file ring: an operation that waits for a slot gets the next free one"
      ),
    ]
  }
}

/// A file ring of one execution, and one-byte reads of a file at an offset.
private final class FileRingScene: @unchecked Sendable {
  private let kernel: TransferRing
  private let ring: FileRing
  private let file: IOFile
  private let channel: IOChannel
  /// Holds the handlers until the verdict runs them.
  private let handlers = KeepingRoot()
  private var operations: [IOOperation] = []
  private var ends = 0
  private var isUsed = false

  init(_ disk: TransferRing.Disk, slots: Int = 2) {
    kernel = TransferRing(disk: disk)
    let root = SpawningRoot()
    ring = FileRing(
      kernel, pool: Pool.small(), slotCount: slots, workers: FileWorkers { _ in root })
    let none = FileStatus.Moment(seconds: 0, nanoseconds: 0)
    file = IOFile(
      ModelKernel.first, kind: .stored,
      identity: FileStatus(
        device: 0, inode: 0, isDirectory: false, links: 1, size: 0, mode: 0, user: 0, group: 0,
        modified: none, changed: none))
    channel = IOChannel(isRandom: true, file: file, queue: handlers) { _ in }
  }

  /// Adds a daemon that receives the completions, as the poller's threads do.
  func addPoller(_ scene: Scene) {
    scene.thread("poller", isDaemon: true) { [self] in
      while kernel.hear() { ring.becameReady(.readable, on: currentThread()) }
    }
  }

  /// Adds a thread that sleeps for 1 s, until the ring's retries are over.
  func addClock(_ scene: Scene) {
    let word = Atomic32()
    let end = Checker.nanoseconds + 1_000_000_000
    scene.thread("clock") {
      _ = futexWait(word.word, while: 0, until: .monotonic(nanoseconds: end))
    }
  }

  @discardableResult
  func submit() -> IOOperation {
    let operation = IOOperation(
      .read, of: channel, offset: 0, length: 1, limits: IOLimits(), queue: handlers
    ) { [unowned self] done, _, _ in if done { ends += 1 } }
    operations.append(operation)
    file.lock.withLock {
      channel.unfinished += 1
      operation.state = .running
      if ring.submit(operation) {
        isUsed = true
      } else {
        // The ring could make no thread, which happens only in models that allow refusals.
        file.end(operation, EAGAIN)
      }
    }
    return operation
  }

  /// Stops an operation, as IOFile stops a running one.
  func stop(_ operation: IOOperation) {
    file.lock.withLock {
      if operation.isOver { return }
      operation.isStopped = true
      if ring.takeBack(operation) {
        file.end(operation, ECANCELED)
      }
    }
  }

  func expectAllOver() {
    handlers.runAll()
    let over = operations.filter { $0.isOver }.count
    Checker.expect(
      over == operations.count, "\(operations.count - over) of \(operations.count) never end")
    Checker.expect(ends == operations.count, "\(ends) ends of \(operations.count)")
    Checker.expect(ring.busySlots == 0, "a slot is lost")
    operations = []
    // The ring's thread never ends, so the reference on its stack is released here.
    if isUsed { Unmanaged.passUnretained(ring).release() }
  }
}
