// Room: Platform/Inotify. Reports changes of files. inotify(7).
// A watch names a file by /proc/self/fd, so it follows the open file, whatever the file's name is
// now; for a directory the path leads on to its parent. Without /proc a watch fails with ENOENT.
import CGrandCentralLinux

enum Inotify {
  struct Mask: OptionSet, Hashable, Sendable {
    let rawValue: UInt32

    static let modified = Mask(rawValue: 0x002)
    /// Attributes or the link count; with a name, those of an entry of the directory.
    static let attributes = Mask(rawValue: 0x004)
    static let movedFrom = Mask(rawValue: 0x040)
    static let movedTo = Mask(rawValue: 0x080)
    static let created = Mask(rawValue: 0x100)
    static let deleted = Mask(rawValue: 0x200)
    /// The file is gone: it has no name and no descriptor any more.
    static let deletedSelf = Mask(rawValue: 0x400)
    static let movedSelf = Mask(rawValue: 0x800)
    /// The kernel reports these without a request.
    static let unmounted = Mask(rawValue: 0x2000)
    static let overflow = Mask(rawValue: 0x4000)
    /// The last event of a watch: it was removed, or its file is gone.
    static let ignored = Mask(rawValue: 0x8000)

    /// The events that change the contents of a directory.
    static let contents: Mask = [.movedFrom, .movedTo, .created, .deleted]

    fileprivate static let add = Mask(rawValue: 1 << 29)
  }

  struct Event: Equatable, Sendable {
    /// The number of the watch; -1 for an overflow.
    let number: Int32
    let mask: Mask
    /// Whether the event is about an entry of the directory, not the directory itself.
    let isNamed: Bool
  }

  enum Place {
    /// The open file.
    case itself
    /// The parent of the open directory.
    case above
  }

  /// Makes a non-blocking instance; -1 with errno set if the kernel refuses.
  static func make() -> Int32 { gc_inotify_make() }

  /// Watches for `mask` in addition to the present events. Returns the number of the file's only
  /// watch, or a negative errno: inotify_add_watch(2).
  static func watch(
    _ instance: Int32, _ place: Place = .itself, of descriptor: Int32, for mask: Mask
  ) -> Int32 {
    let path = "/proc/self/fd/\(descriptor)" + (place == .above ? "/.." : "")
    return gc_inotify_watch(instance, path, mask.union(.add).rawValue)
  }

  /// Removes a watch. Events that are already queued still arrive.
  static func unwatch(_ instance: Int32, _ number: Int32) {
    // EINVAL: the file is gone, and the watch with it. inotify_rm_watch(2).
    _ = gc_inotify_unwatch(instance, number)
  }

  /// Reads up to a few hundred waiting events; empty if none waits.
  static func next(_ instance: Int32) -> [Event] {
    withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 8) { buffer in
      while true {
        let count = read(instance, buffer.baseAddress, buffer.count)
        if count < 0 && errno == EINTR { continue }
        return count <= 0 ? [] : events(in: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      }
    }
  }

  /// Parses records of 16 bytes and a name: number, mask, cookie, and the padded name's length.
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
