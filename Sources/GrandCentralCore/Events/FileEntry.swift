// Room: Events/FileEntry. What one source wants to know of a file.
//   new ─placed→ watched ─leave, lost, refused→ over
//   new ─the system refuses for now→ lacking ─placed→ watched
// All of it is guarded by the lock of the FileWatches that it is with.

/// Who listens: a source.
protocol FileListener: AnyObject, Sendable {
  /// Outside of all locks; any thread. Must not sleep.
  func fileHasChanged(_ events: FileEvents, on thread: ThreadContext)
  /// For messages: "file system source of descriptor 7 on queue 'x'".
  var listenerDescription: String { get }
}

final class FileEntry: @unchecked Sendable {
  enum State { case new, lacking, watched, over }

  let descriptor: Int32
  let wanted: FileEvents
  /// Weakly: a source that nobody holds any more is not kept by its file.
  weak var listener: (any FileListener)?
  @Cell var state = State.new
  /// While it is watched: the number of its file's watch.
  @Cell var number: Int32 = -1
  /// The file as it was when it was to be watched.
  @Cell var first: FileStatus?
  /// Where its file is mounted, if that can be told and is wanted.
  @Cell var mount: Int?

  init(_ descriptor: Int32, wanted: FileEvents) {
    self.descriptor = descriptor
    self.wanted = wanted
  }
}

/// One file that is watched: for sources of its own, or because directories in it are.
final class FileWatch: @unchecked Sendable {
  /// As the kernel counts watches. It gives a number away again only when it has been through all of them.
  let number: Int32
  /// What the kernel was asked for.
  @Cell var asked: Inotify.Mask
  @Cell var entries: [FileEntry] = []
  /// As of the last event; `nil` without entries.
  @Cell var status: FileStatus?
  /// What has come since.
  @Cell var seen: Inotify.Mask = []
  /// The watch of the directory that it is in, where that matters.
  @Cell var parent: FileWatch?
  /// Whose parent it is, by number.
  @Cell var children: Set<Int32> = []

  init(_ number: Int32, asked: Inotify.Mask) {
    self.number = number
    self.asked = asked
  }

  var wanted: FileEvents { entries.reduce(into: []) { $0.formUnion($1.wanted) } }
  var isNeeded: Bool { !entries.isEmpty || !children.isEmpty }
  var needsParent: Bool { status?.isDirectory == true && wanted.needsParent }
}
