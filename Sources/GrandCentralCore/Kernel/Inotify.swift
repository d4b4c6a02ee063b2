// Room: Kernel/Inotify. What happens to files, as inotify(7) tells.
// Files are named by /proc/self/fd, so by what a descriptor stands for, however it was opened and whatever it is called
// by now. For a directory that leads on to the one that it is in. Without /proc that is ENOENT.
import CLinux

enum Inotify {
  struct Mask: OptionSet, Hashable, Sendable {
    let rawValue: UInt32

    static let modified = Mask(rawValue: 0x002)
    /// Attributes or the link count. With a name: those of something in the directory.
    static let attributes = Mask(rawValue: 0x004)
    static let movedFrom = Mask(rawValue: 0x040)
    static let movedTo = Mask(rawValue: 0x080)
    static let created = Mask(rawValue: 0x100)
    static let deleted = Mask(rawValue: 0x200)
    /// The file is gone: it has neither names nor descriptors any more.
    static let deletedSelf = Mask(rawValue: 0x400)
    static let movedSelf = Mask(rawValue: 0x800)
    /// These come unasked.
    static let unmounted = Mask(rawValue: 0x2000)
    static let overflow = Mask(rawValue: 0x4000)
    /// The last of a watch: it was taken away, or its file is gone.
    static let ignored = Mask(rawValue: 0x8000)

    /// What changes a directory.
    static let contents: Mask = [.movedFrom, .movedTo, .created, .deleted]

    fileprivate static let add = Mask(rawValue: 1 << 29)
  }

  struct Event: Equatable, Sendable {
    /// Of which watch; -1 for an overflow.
    let number: Int32
    let mask: Mask
    /// Whether it is about something in a directory, not the directory itself.
    let isNamed: Bool
  }

  enum Place {
    /// What the descriptor stands for.
    case itself
    /// The directory that the descriptor's directory is in.
    case above
  }

  /// A new instance, non-blocking; -1 when the kernel refuses, with errno set.
  static func make() -> Int32 { gc_inotify_make() }

  /// Watches for `mask` besides what is watched for already, or with `replacing` for that alone. Returns the number of
  /// the file's watch, of which there is one at most, or an errno, negative: inotify_add_watch(2).
  static func watch(
    _ instance: Int32, _ place: Place = .itself, of descriptor: Int32, for mask: Mask,
    replacing: Bool = false
  ) -> Int32 {
    let path = "/proc/self/fd/\(descriptor)" + (place == .above ? "/.." : "")
    return gc_inotify_watch(instance, path, mask.union(replacing ? [] : .add).rawValue)
  }

  /// Ends a watch. Events that have been queued already still come.
  static func unwatch(_ instance: Int32, _ number: Int32) {
    // EINVAL: its file is gone, and with it the watch. inotify_rm_watch(2).
    _ = gc_inotify_unwatch(instance, number)
  }

  /// Up to some hundred events that wait; none when nothing waits.
  static func next(_ instance: Int32) -> [Event] {
    withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 8) { buffer in
      while true {
        let count = read(instance, buffer.baseAddress, buffer.count)
        if count < 0 && errno == EINTR { continue }
        return count <= 0 ? [] : events(in: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      }
    }
  }

  /// Records of 16 bytes and a name: number, mask, cookie, the name's length with its padding.
  static func events(in bytes: UnsafeRawBufferPointer) -> [Event] {
    var events: [Event] = []
    var offset = 0
    while offset + 16 <= bytes.count {
      let length = bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self)
      events.append(
        Event(
          number: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self),
          mask: Mask(rawValue: bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)),
          isNamed: length > 0))
      offset += 16 + Int(length)
    }
    return events
  }
}
