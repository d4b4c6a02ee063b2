// Room: Sources/Descriptor/FileGrowth. Watches a regular file whose end a read source has handled,
// because the file may grow.
// epoll(7) does not take regular files, so the file is watched as for a file system source. The
// watch begins at the first end and lasts as long as the source, which mostly is cancelled at the
// end instead.
// Invariant: bytes after the end are reported. The source looks for them when its entry has ended
// and the watch is in place; this finds what was written before. What is written later causes an
// event, which looks again. If that look comes while the entry is notified, it does nothing: the
// source then handles an event that began before, and looks once more if it finds the end.
// Every write causes a look, not only one that makes the file larger: what counts are the bytes
// after the position, which can be read although the size is what it was.

final class FileGrowth: FileListener, @unchecked Sendable {
  private let entry: DescriptorEntry
  private let shared: SharedDescriptor
  private let file: FileEntry

  init(for entry: DescriptorEntry, of shared: SharedDescriptor) {
    self.entry = entry
    self.shared = shared
    file = FileEntry(entry.descriptor, wanted: .write, mayBeRefused: true)
    file.listener = self
  }

  var listenerDescription: String { entry.description }

  func begin(on thread: ThreadContext) {
    Watchers.shared.files.join(file, on: thread)
    look(on: thread)
  }

  /// Ends the watch. Any thread, any number of times, also before it begins.
  func end() { Watchers.shared.files.leave(file) }

  /// Notifies the source if its entry has ended and there are bytes to read.
  func look(on thread: ThreadContext) {
    shared.notifyPastEnd(entry, on: thread) {
      DescriptorSpace.restOfFile(entry.descriptor) ?? 0 > 0
    }
  }

  func fileHasChanged(_ events: FileEvents, on thread: ThreadContext) { look(on: thread) }
}
