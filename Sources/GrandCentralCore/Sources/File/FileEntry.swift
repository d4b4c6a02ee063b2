// Room: Sources/File/FileEntry. The interest of one source in a file.
//   new ─placed→ watched ─leave, lost→ over                 new ─refused→ over
//   new ─the system refuses for now→ lacking ─placed→ watched
// Invariant: the lock of its FileWatches guards all of it.

/// A listener: a file system source, or a read source at the end of a regular file.
protocol FileListener: AnyObject, Sendable {
  /// Reports events. Any thread that holds no lock. Must not sleep.
  func fileHasChanged(_ events: FileEvents, on thread: ThreadContext)
  /// Names the source in messages: "file system source of descriptor 7 on queue 'x'".
  var listenerDescription: String { get }
}

final class FileEntry: @unchecked Sendable {
  enum State { case new, lacking, watched, over }

  let descriptor: Int32
  let wanted: FileEvents
  /// The source also works without the watch, so a refusal is final and not reported.
  let mayBeRefused: Bool
  /// Weak, so that the file does not keep its source alive.
  weak var listener: (any FileListener)?
  @Cell var state = State.new
  /// The number of the file's watch, while it is watched.
  @Cell var number: Int32 = -1
  /// The file's status when the entry was first to be watched.
  @Cell var first: FileStatus?
  /// The number of the file's mount, if it is known and the entry wants its end.
  @Cell var mount: Int?

  init(_ descriptor: Int32, wanted: FileEvents, mayBeRefused: Bool = false) {
    self.descriptor = descriptor
    self.wanted = wanted
    self.mayBeRefused = mayBeRefused
  }
}

/// A watched file: it has entries of its own, or watched directories in it.
final class FileWatch: @unchecked Sendable {
  /// The kernel's number of the watch. The kernel reuses a number only after it has used all
  /// others.
  let number: Int32
  /// The events that the kernel was asked for. They only grow: see FileWatches.
  @Cell var asked: Inotify.Mask
  @Cell var entries: [FileEntry] = []
  /// The status as of the last event; `nil` without entries.
  @Cell var status: FileStatus?
  /// The events that have come since.
  @Cell var seen: Inotify.Mask = []
  /// The watch of the parent directory, if this one needs it.
  @Cell var parent: FileWatch?
  /// The numbers of the watches whose parent this is.
  @Cell var children: Set<Int32> = []

  init(_ number: Int32, asked: Inotify.Mask) {
    self.number = number
    self.asked = asked
  }

  var wanted: FileEvents { entries.reduce(into: []) { $0.formUnion($1.wanted) } }
  var isNeeded: Bool { !entries.isEmpty || !children.isEmpty }
  var needsParent: Bool { status?.isDirectory == true && wanted.needsParent }
}
