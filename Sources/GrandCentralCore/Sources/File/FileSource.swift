// Room: Sources/File/FileSource. Sources that report changes of a file or directory.

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
    Watchers.shared.files.join(entry, on: currentThread())
    let isLate = lock.withLock {
      isMonitoring = true
      return isStopped
    }
    if isLate { Watchers.shared.files.leave(entry) }
  }

  override func stopMonitoring() { stop() }

  private func stop() {
    let wasMonitoring = lock.withLock {
      isStopped = true
      return isMonitoring
    }
    if wasMonitoring { Watchers.shared.files.leave(entry) }
  }

  func fileHasChanged(_ events: FileEvents, on thread: ThreadContext) {
    let wanted = events.intersection(entry.wanted)
    if wanted.isEmpty { return }
    // releasing: the handler sees what was read of the file before.
    pending.bitwiseOr(wanted.rawValue, ordering: .releasing)
    signal(from: thread)
  }
}

/// A source whose events are changes of a file or directory.
///
/// In the event handler, `data` is what has happened since the last event, limited to the events in
/// `mask`.
///
/// - Source: Apple, Dispatch, `DispatchSourceFileSystemObject`.
public protocol DispatchSourceFileSystemObject: DispatchSourceProtocol {
  /// The descriptor whose file is watched.
  var handle: Int32 { get }
  /// The events since the last one, in the event handler.
  var data: DispatchSource.FileSystemEvent { get }
  /// The events that the source was made for.
  var mask: DispatchSource.FileSystemEvent { get }
}

extension DispatchSourceFileSystemObject {
  /// The descriptor whose file is watched.
  ///
  /// - Source: `dispatch_source_get_handle(3)`.
  public var handle: Int32 { Int32(truncatingIfNeeded: source.handleValue) }
  /// The events since the last one, in the event handler.
  ///
  /// - Source: `dispatch_source_get_data(3)`.
  public var data: DispatchSource.FileSystemEvent { .init(rawValue: source.data) }
  /// The events that the source was made for.
  ///
  /// - Source: `dispatch_source_get_mask(3)`.
  public var mask: DispatchSource.FileSystemEvent { .init(rawValue: source.maskValue) }
}

extension DispatchSource: DispatchSourceFileSystemObject {
  // A process source's handle has the same type, so the compiler needs the protocol's name.
  @_implements(DispatchSourceFileSystemObject,handle)
  public final var _fileHandle: Int32 { Int32(truncatingIfNeeded: handleValue) }

  /// The events of a file or directory, each with what Linux cannot report of it.
  ///
  /// Changes that another machine makes to a network file system are never reported.
  ///
  /// - Source: `inotify(7)`; `DISPATCH_SOURCE_TYPE_VNODE`, `dispatch_source_create(3)`.
  public struct FileSystemEvent: OptionSet, Hashable, Sendable {
    /// The events as bits.
    public let rawValue: UInt
    /// Makes a set of events from its bits.
    ///
    /// - Parameter rawValue: the bits of the events.
    /// - Source: Swift standard library, `OptionSet`.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Its last name was removed, or given to another file by `rename(2)`. If other hard links are
    /// left, the event is only `.link`. The parent directory reports the removal of a directory,
    /// and the process needs permission to read that parent.
    public static let delete = FileSystemEvent(rawValue: 0x01)
    /// A file was written, truncated or allocated; or an entry of a directory was added, removed or
    /// renamed. Writes through `mmap(2)` are not reported.
    public static let write = FileSystemEvent(rawValue: 0x02)
    /// It has grown since the last event, as of when the engine reads its size.
    public static let extend = FileSystemEvent(rawValue: 0x04)
    /// Its permissions, owner, times or extended attributes were changed. If times or extended
    /// attributes change at the same moment as the link count, the event may be only `.link`.
    public static let attrib = FileSystemEvent(rawValue: 0x08)
    /// The number of its hard links has changed; for a directory, of its subdirectories. If a name
    /// of a file is made and removed at once, that is reported too, with `.attrib`. Linux reports a
    /// change of extended attributes, or of the access time alone, in the same way, so these cause
    /// both events as well.
    public static let link = FileSystemEvent(rawValue: 0x10)
    /// It was renamed, or moved to another directory. Renamed parents are not reported.
    public static let rename = FileSystemEvent(rawValue: 0x20)
    /// Its file system was unmounted. Under open files that takes `umount --lazy`.
    public static let revoke = FileSystemEvent(rawValue: 0x40)
    /// A lock on it was released. Linux does not report that, so this event never happens.
    public static let funlock = FileSystemEvent(rawValue: 0x100)

    /// All events but `.funlock`.
    public static let all: FileSystemEvent = [
      .delete, .write, .extend, .attrib, .link, .rename, .revoke,
    ]
  }

  /// Makes a source that reports changes of an open file or directory.
  ///
  /// The source watches the file behind the descriptor, whatever name or descriptor a change is
  /// made through. A program that saves by writing a new file and renaming it over the old one ends
  /// the old file, whose sources get `.delete` and `.link`. Other programs rename the old file away
  /// first: `.rename`. After either, open the name again and make a new source.
  ///
  /// The descriptor needs permission to read the file, but may be open in any mode, including
  /// `O_PATH` and `O_WRONLY`. Any number of sources may watch a file. Cancel them before their
  /// descriptor is closed, and close it in the cancel handler. If the descriptor is closed earlier,
  /// its source gets no more events, and that is reported on standard error if the environment asks
  /// for it (`GRANDCENTRAL_REPORTS=all`).
  ///
  /// If more happens than the kernel can queue, every source gets all that it may have missed: its
  /// whole mask, except `.delete` and `.revoke`, which can be looked up. That, too, is reported on
  /// request. If a file cannot be watched, for example without /proc, that is reported, and its
  /// source gets no events. If the system is out of watches or descriptors, the engine reports that
  /// and retries, and events come late.
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
  ///   - fileDescriptor: an open descriptor. Stops the process with a message if it is negative.
  ///   - eventMask: the events to report. Stops the process with a message if it is empty or has
  ///     other bits.
  ///   - queue: the queue that the handlers run on; `nil`: the default global queue.
  /// - Returns: the source, inactive.
  /// - Source: `DISPATCH_SOURCE_TYPE_VNODE`, `dispatch_source_create(3)`; `inotify(7)`.
  public class func makeFileSystemObjectSource(
    fileDescriptor: Int32, eventMask: FileSystemEvent, queue: DispatchQueue? = nil
  ) -> any DispatchSourceFileSystemObject {
    FileSource(fileDescriptor, eventMask, queue: queue)
  }
}
