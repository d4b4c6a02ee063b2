// Room: Sources/FileSource. Events of a file or directory: it was written, renamed, deleted.

private final class FileSource: MergingSource, FileListener, @unchecked Sendable {
  private let descriptor: Int32
  private let asked: FileSystemEvent
  private let queueLabel: String
  private let entry: FileEntry
  /// Guarded by the lock.
  @Cell private var isMonitoring = false
  @Cell private var isStopped = false

  init(_ descriptor: Int32, _ events: FileSystemEvent, queue: DispatchQueue?) {
    require(
      descriptor >= 0,
      "A file system source was made for descriptor \(descriptor), which is none. Check what open() returned."
    )
    let known = FileSystemEvent.all.union(.funlock)
    require(
      !events.isEmpty && events.isSubset(of: known),
      "A file system source was made for the events \(events.rawValue). Name at least one of "
        + "DispatchSource.FileSystemEvent, and nothing else.")
    self.descriptor = descriptor
    asked = events
    queueLabel = queue?.label ?? "the default global queue"
    entry = FileEntry(descriptor, wanted: FileEvents(rawValue: UInt64(events.rawValue)))
    super.init(queue: queue)
    entry.listener = self
  }

  override var laneLabel: String { "file system source" }

  deinit { stop() }

  override var handleValue: UInt { UInt(descriptor) }
  override var maskValue: UInt { asked.rawValue }
  var listenerDescription: String {
    "\(laneLabel) of descriptor \(descriptor) on queue '\(queueLabel)'"
  }

  override func startMonitoring() {
    Events.shared.files.join(entry, on: currentThread())
    let isLate = lock.withLock {
      isMonitoring = true
      return isStopped
    }
    if isLate { Events.shared.files.leave(entry) }
  }

  override func stopMonitoring() { stop() }

  private func stop() {
    let wasMonitoring = lock.withLock {
      isStopped = true
      return isMonitoring
    }
    if wasMonitoring { Events.shared.files.leave(entry) }
  }

  func fileHasChanged(_ events: FileEvents, on thread: ThreadContext) {
    let wanted = events.intersection(entry.wanted)
    if wanted.isEmpty { return }
    // releasing: what was read of the file before is seen by the handler.
    pending.bitwiseOr(wanted.rawValue, ordering: .releasing)
    signal(from: thread)
  }
}

/// A source whose events are changes of a file or directory.
///
/// In the event handler `data` says what has happened since the last one, of what `mask` asks for.
/// - Source: Apple, Dispatch, `DispatchSourceFileSystemObject`.
public protocol DispatchSourceFileSystemObject: DispatchSourceProtocol {
  /// The descriptor whose file is watched.
  var handle: Int32 { get }
  /// In the event handler, what has happened.
  var data: DispatchSource.FileSystemEvent { get }
  /// What the source was made to hear of.
  var mask: DispatchSource.FileSystemEvent { get }
}

extension DispatchSourceFileSystemObject {
  /// The descriptor whose file is watched.
  public var handle: Int32 { Int32(truncatingIfNeeded: source.handleValue) }
  /// In the event handler, what has happened.
  public var data: DispatchSource.FileSystemEvent { .init(rawValue: source.data) }
  /// What the source was made to hear of.
  public var mask: DispatchSource.FileSystemEvent { .init(rawValue: source.maskValue) }
}

extension DispatchSource: DispatchSourceFileSystemObject {
  // A process's handle has the same type, so the compiler must be told which is whose.
  @_implements(DispatchSourceFileSystemObject,handle)
  public final var _fileHandle: Int32 { Int32(truncatingIfNeeded: handleValue) }

  /// What can happen to a file or a directory. Each says how Linux tells, and what it cannot tell.
  ///
  /// Changes that another machine makes to a network file system show nowhere.
  /// - Source: `inotify(7)`; `DISPATCH_SOURCE_TYPE_VNODE`, `dispatch_source_create(3)`.
  public struct FileSystemEvent: OptionSet, Hashable, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Its last name was removed, or given to another file by `rename(2)`. Where other hard links are left that is
    /// `.link` alone. A directory's removal is told by the directory above it, which the process has to be allowed
    /// to read.
    public static let delete = FileSystemEvent(rawValue: 0x01)
    /// A file was written, truncated or allocated; something was added to a directory, removed from it, or renamed in
    /// it. Writes through `mmap(2)` do not show.
    public static let write = FileSystemEvent(rawValue: 0x02)
    /// It has become larger, as of when that is looked at.
    public static let extend = FileSystemEvent(rawValue: 0x04)
    /// Its permissions, owner, times or extended attributes were changed. Times and extended attributes that change in
    /// the same moment as the link count may be told as `.link` alone.
    public static let attrib = FileSystemEvent(rawValue: 0x08)
    /// The number of its hard links has changed; for a directory, of its subdirectories. A file's
    /// name that is made and removed at once is reported too, with `.attrib`. Linux reports a
    /// change of extended attributes, or of the time of the last access alone, in the same words,
    /// so these have both events as well.
    public static let link = FileSystemEvent(rawValue: 0x10)
    /// It was renamed, or moved to another directory. That a directory above it was renamed does not show.
    public static let rename = FileSystemEvent(rawValue: 0x20)
    /// Its file system was unmounted, which Linux does to open files only on demand: `umount --lazy`.
    public static let revoke = FileSystemEvent(rawValue: 0x40)
    /// A lock on it was released. Linux does not tell, so this never happens.
    public static let funlock = FileSystemEvent(rawValue: 0x100)

    /// All but `.funlock`.
    public static let all: FileSystemEvent = [
      .delete, .write, .extend, .attrib, .link, .rename, .revoke,
    ]
  }

  /// Makes a source that hears of changes of an open file or directory.
  ///
  /// It watches what the descriptor stands for, by whatever name and descriptor that is changed. Programs that save by
  /// writing a new file and renaming it over the old one end the old one: its sources hear `.delete` and `.link`.
  /// Others rename the old file away first: `.rename`. After either, open the name again and make a new source.
  ///
  /// The descriptor needs permission to read the file, though it may be opened in any mode, `O_PATH` and `O_WRONLY`
  /// included. Any number of sources may watch a file. Cancel them before their descriptor is closed, and close it in
  /// the cancel handler: the source of one that is closed earlier hears no more, and that is
  /// reported on standard error if the environment asks for it (`GRANDCENTRAL_REPORTS=all`).
  ///
  /// When more happens than the kernel keeps, every source is notified of all that it may have
  /// missed: its whole mask, but for `.delete` and `.revoke`, which can be looked up. That, too, is
  /// reported if asked for. What cannot be watched, as without /proc, is reported, and its source
  /// hears nothing. Where the system is out of watches or descriptors it is asked again, which is
  /// reported too, and events come late.
  ///
  /// ```swift
  /// let file = open("settings.json", O_RDONLY | O_CLOEXEC)
  /// let source = DispatchSource.makeFileSystemObjectSource(
  ///   fileDescriptor: file, eventMask: [.write, .delete, .rename], queue: .main)
  /// source.setEventHandler { print(source.data.contains(.write) ? "changed" : "replaced") }
  /// source.setCancelHandler { close(file) }
  /// source.activate()
  /// ```
  /// - Parameters:
  ///   - fileDescriptor: not negative, or the process stops with a message.
  ///   - eventMask: what to hear of: at least one event, or the process stops with a message. The handler is called
  ///     for nothing else.
  ///   - queue: where the handlers run; `nil`: the default global queue.
  /// - Source: `DISPATCH_SOURCE_TYPE_VNODE`, `dispatch_source_create(3)`; `inotify(7)`.
  public class func makeFileSystemObjectSource(
    fileDescriptor: Int32, eventMask: FileSystemEvent, queue: DispatchQueue? = nil
  ) -> any DispatchSourceFileSystemObject {
    FileSource(fileDescriptor, eventMask, queue: queue)
  }
}
