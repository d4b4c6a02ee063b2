// Room: Pool/WorkerName. Names a worker's thread after the queue that it works for.
// The names are for ps, top and debuggers. Setting one is a system call of less than 1 µs, so it is
// done where a wake-up costs far more, and never for each item:
//   a woken or new thread              takes the label of the first queue that it works for
//   a thread that moves to another     takes that label, up to `changesInTick` times a tick of the
//   queue without sleeping             coarse clock; then, for the rest, the plain name
//   a thread that goes idle            takes its plain name back, if it carries another: at once,
//                                      or after `stayNanoseconds` if its last sleep was brief
// So a thread that serves one queue every few milliseconds makes no call at all. Cold, the two took
// 8 µs of each wake-up; README.md, limits, says why that counts beside busy threads.
// An external worker takes its plain name back at once: a timeout of its wait costs more than the
// two calls.
// A source has no label of its own: its handlers run under the label of their queue
// (Lanes/Lane+Board). The monitor, while awake, names threads that stay with a queue and carry no
// label. It writes the name of another thread, so a protocol keeps stale names away:
//   the worker   leaves the queue (stores another current queue), then reads `isNamedByMonitor`
//   the monitor  sets `isNamedByMonitor`, writes the name, then reads the current queue, and
//                `isNamedByMonitor` again: the worker may have left the queue and entered it again
// All are sequentially consistent. Either the worker sees the mark and writes the right name
// itself, or the monitor sees that the worker has left and writes the plain name.
import CGrandCentralLinux

/// Distinguishes labels without comparing texts: two words that differ for two labels with
/// different names while both are retained.
struct LabelIdentity: Equatable {
  private let first: UInt64
  private let second: UInt64

  /// No label, or an empty one.
  static let none = LabelIdentity(start: (0, 0))

  /// Identifies a text by what a thread's name shows. `start`: its first 16 bytes, zero-padded.
  // The byte that a name does not show stays zero here. The bits of a short string have it set.
  @inline(__always)
  init(start: (UInt64, UInt64)) {
    first = start.0
    second = UInt64(littleEndian: start.1.littleEndian & (1 << 56 - 1))
  }

  /// Identifies a string by its bits: its text if that is short, else the address of the text.
  @inline(__always)
  init(_ label: String) {
    // SAFETY: a string is two words on all 64-bit platforms; the bits are compared, and never
    // turned into a string again.
    let bits = unsafeBitCast(label, to: (UInt64, UInt64).self)
    first = label.isEmpty ? 0 : bits.0
    second = label.isEmpty ? 0 : bits.1
  }
}

/// The name that a worker's thread has given itself. Owner only.
struct WorkerName {
  /// `.none`: the plain name.
  fileprivate(set) var shown = LabelIdentity.none
  /// Retains the text whose address may be in `shown`, so that no other label gets that address.
  fileprivate var kept = ""
  /// Whether the thread was woken and has carried no new label since.
  fileprivate var isFresh = true
  private var tick: UInt64 = 0
  private var changes = 0

  /// Changes refused since the limit was reached.
  private var refusals = 0

  private static var changesInTick: Int { 8 }
  /// The number of refusals for each read of the clock.
  private static var refusalsInTurn: Int { 16 }

  /// When the thread last went idle, by the coarse clock, and whether the sleep before was brief.
  private var idleSince: UInt64 = 0
  private var wasBrief = false
  /// Whether an idle thread still carries a label.
  fileprivate(set) var isKept = false

  /// How long an idle thread keeps a label, and the longest sleep after which it does.
  static var stayNanoseconds: UInt64 { 1_000_000_000 }
  private static var briefNanoseconds: UInt64 { UInt64(scaled(100_000_000, inModels: 0)) }

  // The functions below are given the time: a call of the clock inside of an access to the worker's
  // name would cost each later access a check at run time.

  /// Notes that a thread has just been made for the worker, or woken.
  mutating func began(at now: UInt64) {
    isFresh = true
    noteSleep(until: now)
  }

  /// Notes that an external worker's thread received an event, after a sleep or not: the next
  /// change reads the clock.
  mutating func received(at now: UInt64) {
    refusals = Self.refusalsInTurn - 1
    noteSleep(until: now)
  }

  private mutating func noteSleep(until now: UInt64) {
    wasBrief = idleSince != 0 && now - idleSince < Self.briefNanoseconds
    isKept = false
  }

  /// Notes that the thread goes idle. Returns whether it expects to wake up soon.
  fileprivate mutating func rests(from now: UInt64) -> Bool {
    idleSince = now
    return wasBrief
  }

  /// Whether the limit was exceeded when the clock was last read, a few changes ago.
  fileprivate mutating func isRefused() -> Bool {
    guard changes > Self.changesInTick else { return false }
    refusals += 1
    return refusals % Self.refusalsInTurn != 0
  }

  /// Counts a change of the name in the tick `now`. Returns false above the limit.
  fileprivate mutating func mayChange(in now: UInt64) -> Bool {
    if now != tick {
      tick = now
      changes = 0
    }
    changes += 1
    return changes <= Self.changesInTick
  }
}

extension Worker {
  /// Whether the calling thread, the worker's own, may change its name for another queue.
  func mayShowLabel() -> Bool {
    if name.isFresh {
      name.isFresh = false
      return true
    }
    if name.isRefused() { return false }
    let now = Clock.coarseNanoseconds()
    return name.mayChange(in: now)
  }

  /// Names the calling thread, the worker's own, after a queue. `kept` is retained with the name.
  func show(_ text: ThreadName, as identity: LabelIdentity, kept: String) {
    name.kept = kept
    name.shown = identity
    // relaxed: a mark that the monitor sets later is removed by the monitor, or by this thread when
    // idle.
    if isNamedByMonitor.load(ordering: .relaxed) {
      isNamedByMonitor.store(false, ordering: .relaxed)
    }
    nameThread(text)
  }

  /// Whether the thread's name may be a queue's label.
  // relaxed: the monitor itself undoes a name that it writes from here on.
  var mayHaveLabel: Bool {
    name.shown != .none || isNamedByMonitor.load(ordering: .relaxed)
  }

  /// Gives the calling thread, the worker's own, its plain name back before it sleeps; or keeps
  /// its label, if it expects to wake up soon. The thread then calls `showPlainName()` when it has
  /// slept for `WorkerName.stayNanoseconds`.
  func restName() {
    let now = Clock.coarseNanoseconds()
    // sequentiallyConsistent: as in showPlainName(). A name of the monitor's does not stay.
    if name.rests(from: now), name.shown != .none,
      !isNamedByMonitor.load(ordering: .sequentiallyConsistent)
    {
      name.isKept = true
    } else {
      showPlainName()
    }
  }

  /// Gives the calling thread, the worker's own, its plain name back.
  func showPlainName() {
    name.isKept = false
    let isOwn = name.shown != .none
    if isOwn {
      name.shown = .none
      name.kept = ""
    }
    // sequentiallyConsistent: the worker's half of the pair at the top of this file.
    let isMonitors =
      isNamedByMonitor.load(ordering: .sequentiallyConsistent)
      && isNamedByMonitor.exchange(false, ordering: .sequentiallyConsistent)
    if isOwn || isMonitors { nameThread(plainName) }
  }
}

extension Monitor {
  /// Names a worker's thread after its current queue, if it took nothing since the last look, and
  /// takes the name of the last one back.
  func nameAfterQueue(_ worker: Worker, at pick: UInt32, hasPicked: Bool) {
    // A worker does not read its mark when it enters a queue without a label.
    let isMarked = worker.isNamedByMonitor.load(ordering: .relaxed)
    let isDue = !hasPicked && worker.lastNamedPick != pick
    guard isMarked || isDue, worker.status.load(ordering: .relaxed) != .away,
      let thread = worker.thread
    else { return }
    let label = CurrentQueueLabels.label(of: thread)
    if isMarked && label != worker.labelByMonitor { takeLabel(of: worker) }
    // Without a label the worker may be about to enter its queue.
    guard isDue, let label, !label.isEmpty else { return }
    worker.lastNamedPick = pick
    let id = worker.threadID.load(ordering: .relaxed)
    // Any other name is one that the thread gave itself, for this queue.
    guard Process.threadName(id) == worker.plainName.text else { return }
    worker.labelByMonitor = label
    // A worker that leaves the queue and enters it again meanwhile has cleared the mark, perhaps
    // before the name was written.
    for _ in 0..<2 {
      // sequentiallyConsistent, here and where the label and the mark are read again: the monitor's
      // half of the pair at the top.
      worker.isNamedByMonitor.store(true, ordering: .sequentiallyConsistent)
      Process.setThreadName(id, ThreadName(label))
      guard CurrentQueueLabels.label(of: thread) == label else { break }
      if worker.isNamedByMonitor.load(ordering: .sequentiallyConsistent) { return }
    }
    // Whatever the mark says by now: the worker may have cleared it for a name of its own, which is
    // overwritten.
    worker.isNamedByMonitor.store(false, ordering: .relaxed)
    Process.setThreadName(id, worker.plainName)
  }

  /// Restores the plain name of a worker that has left the queue that the monitor named it after.
  private func takeLabel(of worker: Worker) {
    guard worker.isNamedByMonitor.exchange(false, ordering: .sequentiallyConsistent) else { return }
    Process.setThreadName(worker.threadID.load(ordering: .relaxed), worker.plainName)
  }
}
