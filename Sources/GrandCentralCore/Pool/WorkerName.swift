// Room: Pool/WorkerName. The name of a worker's thread: the label of the queue that it works for.
// Names are for ps, top and debuggers. Setting one is a system call of less than 1 µs, so it is
// made where a wake-up costs far more, and never per item:
//   a thread that was woken, or made   carries the label of the first queue that it works for
//   a thread that moves to another     carries that one's, up to `changesInTick` times a tick of the coarse clock; then
//   queue without sleeping             the plain name for the rest of the tick, which is never wrong
//   a thread that goes idle            gets its plain name back, if it carries another
// Not: keep the label through a sleep that is likely to be short, with a timer that takes it off.
// To set a timer that is the machine's next costs several times what the two calls do.
// A source has no label of its own: its handlers run under that of the queue that they run on
// (Lanes/Lane+Label). The monitor, while it is awake, names threads that stay with a queue and
// carry no label. It writes the name of another thread, so the two sides exclude a name that is
// left behind:
//   the worker   leaves the queue (its workplace becomes another), then reads `isNamedByMonitor`
//   the monitor  sets `isNamedByMonitor`, writes the name, then reads the workplace
// All four are sequentially consistent. Either the worker sees the mark and writes the right name
// itself, or the monitor sees that the worker has left and writes the plain name.
import CLinux

/// What tells one label from another without comparing texts: two words that two labels with
/// different names never share while both of them are kept.
struct LabelIdentity: Equatable {
  private let first: UInt64
  private let second: UInt64

  /// No label, or an empty one.
  static let none = LabelIdentity(start: (0, 0))

  /// The text itself, as far as a thread's name shows it: its first 16 bytes, and zeros behind its
  /// end.
  // The byte that is not shown stays zero here, and is not in the bits of a string.
  @inline(__always)
  init(start: (UInt64, UInt64)) {
    first = start.0
    second = UInt64(littleEndian: start.1.littleEndian & (1 << 56 - 1))
  }

  /// The bits of the string: its text if that is short, else where the text is.
  @inline(__always)
  init(_ label: String) {
    // SAFETY: a string is two words on all platforms of 64 bits; they are compared, and never made
    // a string again.
    let bits = unsafeBitCast(label, to: (UInt64, UInt64).self)
    first = label.isEmpty ? 0 : bits.0
    second = label.isEmpty ? 0 : bits.1
  }
}

/// The name that a worker's own thread has given itself. Owner only.
struct WorkerName {
  /// `.none`: the plain name.
  fileprivate(set) var shown = LabelIdentity.none
  /// Keeps the text whose address `shown` may be: no other label can be there meanwhile.
  fileprivate var kept = ""
  /// The thread was woken, and has carried no new label since.
  fileprivate var isFresh = true
  private var tick: UInt64 = 0
  private var changes = 0

  /// Changes that were asked for since there were too many.
  private var refusals = 0

  private static var changesInTick: Int { 8 }
  /// How many refusals there are to one look at the clock.
  private static var refusalsInTurn: Int { 16 }

  /// A thread has just been made for the worker, or has just been woken.
  mutating func began() { isFresh = true }

  /// A guest's thread has received an event, with a sleep before it or without one: the next change
  /// looks at the clock.
  mutating func received() { refusals = Self.refusalsInTurn - 1 }

  /// Whether there were too many changes when the clock was last read, a few changes ago.
  fileprivate mutating func isRefused() -> Bool {
    guard changes > Self.changesInTick else { return false }
    refusals += 1
    return refusals % Self.refusalsInTurn != 0
  }

  /// Counts a change of the name in the tick `now`. False: there were too many.
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
  /// Whether the thread, which is the calling one, may change its name for another queue.
  func mayShowLabel() -> Bool {
    if name.isFresh {
      name.isFresh = false
      return true
    }
    if name.isRefused() { return false }
    let now = Clock.coarseNanoseconds()
    return name.mayChange(in: now)
  }

  /// Names the thread, which is the calling one, after a queue. `kept`: as long as it carries that
  /// name.
  func show(_ text: ThreadName, as identity: LabelIdentity, kept: String) {
    name.kept = kept
    name.shown = identity
    // relaxed: a mark that the monitor sets later it takes back itself, or this thread does when it
    // goes idle.
    if isNamedByMonitor.load(ordering: .relaxed) {
      isNamedByMonitor.store(false, ordering: .relaxed)
    }
    nameThread(text)
  }

  /// Whether the thread's name may be a queue's label.
  // relaxed: what the monitor writes from here on it takes back itself.
  var mayHaveLabel: Bool {
    name.shown != .none || isNamedByMonitor.load(ordering: .relaxed)
  }

  /// Gives the thread, which is the calling one, its plain name back.
  func showPlainName() {
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
  /// Names a worker's thread that has taken nothing since the last look after the queue that it is
  /// on.
  func nameAfterQueue(_ worker: Worker, at pick: UInt32) {
    guard worker.status.load(ordering: .relaxed) != .away, worker.lastNamedPick != pick,
      let thread = worker.thread
    else { return }
    let label = Workplaces.label(of: thread)
    guard let label, !label.isEmpty else { return takeLabel(of: worker) }
    // Without one the worker may be about to come to its queue.
    worker.lastNamedPick = pick
    let id = worker.threadID.load(ordering: .relaxed)
    // Any other name is one that the thread has given itself, of this queue.
    guard Process.threadName(id) == worker.plainName.text else { return }
    // sequentiallyConsistent, here and where the label is read again: the monitor's half of the
    // pair at the top.
    worker.isNamedByMonitor.store(true, ordering: .sequentiallyConsistent)
    Process.setThreadName(id, ThreadName(label))
    if Workplaces.label(of: thread) != label { takeLabel(of: worker) }
  }

  /// The worker has left the queue that the monitor named it after.
  private func takeLabel(of worker: Worker) {
    guard worker.isNamedByMonitor.exchange(false, ordering: .sequentiallyConsistent) else { return }
    Process.setThreadName(worker.threadID.load(ordering: .relaxed), worker.plainName)
  }
}
