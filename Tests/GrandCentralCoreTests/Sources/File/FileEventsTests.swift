// The events that sources report for events of the kernel: pure functions.
import Testing

@testable import GrandCentralCore

@Suite("File events") struct FileEventsTests {
  private let file = FileStatus(
    device: 1, inode: 2, isDirectory: false, links: 2, size: 10, mode: 0o100644, user: 0, group: 0,
    modified: .init(seconds: 1, nanoseconds: 1), changed: .init(seconds: 1, nanoseconds: 1))

  private func with(_ change: (inout FileStatus) -> Void) -> FileStatus {
    var status = file
    change(&status)
    return status
  }

  @Test func `of attributes and link counts are distinguished by the status`() {
    #expect(FileEvents.reported(by: .attributes, before: file, now: file) == .attrib)
    let linked = with { $0.links = 3 }
    #expect(FileEvents.reported(by: .attributes, before: file, now: linked) == .link)
    let gone = with { $0.links = 0 }
    #expect(FileEvents.reported(by: .attributes, before: file, now: gone) == [.link, .delete])
    // Both changes at once: the kernel merges their events.
    let both = with {
      $0.links = 0
      $0.mode = 0o100600
    }
    #expect(
      FileEvents.reported(by: .attributes, before: file, now: both) == [.link, .delete, .attrib])
  }

  @Test func `of several lost names are reported once`() {
    let gone = with { $0.links = 0 }
    #expect(FileEvents.reported(by: .attributes, before: gone, now: gone) == [])
    let touched = with { ($0.links, $0.changed) = (0, .init(seconds: 2, nanoseconds: 0)) }
    #expect(FileEvents.reported(by: .attributes, before: gone, now: touched).contains(.attrib))
  }

  @Test func `of a name that was made and removed follow from a record without other changes`() {
    let later = FileStatus.Moment(seconds: 2, nanoseconds: 0)
    let touched = with { $0.changed = later }
    #expect(FileEvents.reported(by: .attributes, before: file, now: touched) == [.attrib, .link])
    // The name is reported once: the next event is compared with the updated record.
    let next = file.updated(to: touched, by: .attributes)
    #expect(FileEvents.reported(by: .attributes, before: next, now: touched) == .attrib)
    for change in [
      { $0.mode = 0o100600 }, { $0.user = 7 }, { $0.group = 7 }, { $0.modified = later },
    ] as [(inout FileStatus) -> Void] {
      let now = with {
        $0.changed = later
        change(&$0)
      }
      #expect(FileEvents.reported(by: .attributes, before: file, now: now) == .attrib)
      // Then a name is made and removed.
      let before = file.updated(to: now, by: .attributes)
      var after = now
      after.changed = .init(seconds: 3, nanoseconds: 0)
      #expect(FileEvents.reported(by: .attributes, before: before, now: after) == [.attrib, .link])
    }
    // The event of the write is read first, and the status already shows that a name was made and
    // removed.
    let written = with {
      $0.size = 20
      $0.modified = later
      $0.changed = later
    }
    let afterWrite = file.updated(to: written, by: .modified)
    #expect(
      FileEvents.reported(by: .attributes, before: afterWrite, now: written) == [.attrib, .link])
    let folder = with { $0.isDirectory = true }
    let touchedFolder = with {
      $0.isDirectory = true
      $0.changed = later
    }
    #expect(FileEvents.reported(by: .attributes, before: folder, now: touchedFolder) == .attrib)
  }

  @Test func `of growth require a larger file`() {
    #expect(FileEvents.reported(by: .modified, before: file, now: file) == .write)
    #expect(FileEvents.reported(by: .modified, before: file, now: with { $0.size = 9 }) == .write)
    let larger = with { $0.size = 11 }
    #expect(FileEvents.reported(by: .modified, before: file, now: larger) == [.write, .extend])
  }

  @Test func `are reported once though the status is newer than the record`() {
    // The file was written, then unlinked, before its status was read.
    let now = with {
      $0.size = 20
      $0.links = 1
    }
    #expect(FileEvents.reported(by: .modified, before: file, now: now) == [.write, .extend])
    let next = file.updated(to: now, by: .modified)
    #expect(next.size == 20 && next.links == 2)
    #expect(FileEvents.reported(by: .attributes, before: next, now: now) == .link)
    #expect(next.updated(to: now, by: .attributes) == now)
  }

  @Test func `of directories come from their contents`() {
    let folder = with { $0.isDirectory = true }
    let more = with {
      $0.isDirectory = true
      $0.links = 3
      $0.mode = 0o100600
    }
    for seen in [Inotify.Mask.created, .deleted, .movedFrom, .movedTo] {
      #expect(FileEvents.reported(by: seen, before: folder, now: folder) == .write)
      #expect(FileEvents.reported(by: seen, before: folder, now: more) == [.write, .link])
    }
    // The change of links comes from a subdirectory made in between, not from this event.
    #expect(FileEvents.reported(by: .attributes, before: folder, now: more) == [.link, .attrib])
    #expect(FileEvents.reported(by: .modified, before: folder, now: folder) == [])
  }

  @Test func `of a file's own move and end come from the kernel`() {
    let seen: Inotify.Mask = [.movedSelf, .unmounted, .deletedSelf]
    #expect(FileEvents.reported(by: seen, before: file, now: file) == [.rename, .revoke, .delete])
    #expect(FileEvents.reported(by: .ignored, before: file, now: file) == [])
  }

  @Test func `without a kernel record follow from the status alone`() {
    #expect(FileEvents.between(file, file) == [])
    let later = FileStatus.Moment(seconds: 2, nanoseconds: 0)
    #expect(FileEvents.between(file, with { $0.modified = later }) == .write)
    #expect(FileEvents.between(file, with { $0.size = 11 }) == [.write, .extend])
    #expect(FileEvents.between(file, with { $0.links = 0 }) == [.link, .delete])
    #expect(FileEvents.between(with { $0.links = 0 }, with { $0.links = 1 }) == .link)
    #expect(FileEvents.between(file, with { $0.user = 7 }) == .attrib)
    #expect(FileEvents.between(file, with { $0.changed = later }) == [.attrib, .rename])
    let missed: FileEvents = [.write, .extend, .attrib, .link, .rename]
    #expect(FileEvents.missed(file, file) == missed)
    #expect(FileEvents.missed(file, with { $0.links = 0 }) == missed.union(.delete))
  }

  @Test func `request only the kernel events that they need`() {
    #expect(FileEvents.write.interest(isDirectory: false) == [.modified, .deletedSelf])
    #expect(FileEvents.delete.interest(isDirectory: false) == [.attributes, .deletedSelf])
    #expect(FileEvents.rename.interest(isDirectory: false) == [.movedSelf, .deletedSelf])
    #expect(FileEvents.revoke.interest(isDirectory: false) == .deletedSelf)
    #expect(
      FileEvents.write.interest(isDirectory: true) == Inotify.Mask.contents.union(.deletedSelf))
    #expect(
      FileEvents.delete.interest(isDirectory: true) == [.attributes, .movedSelf, .deletedSelf])
  }

  @Test func `are read from the kernel's records, names and all`() {
    var bytes: [UInt8] = []
    func put(_ number: Int32, _ mask: UInt32, name: [UInt8]) {
      withUnsafeBytes(of: number) { bytes += $0 }
      for word in [mask, 0, UInt32(name.count)] { withUnsafeBytes(of: word) { bytes += $0 } }
      bytes += name
    }
    put(3, 0x2, name: [])
    put(4, 0x4000_0200, name: [65, 0, 0, 0, 0, 0, 0, 0])
    put(-1, 0x4000, name: [])
    let events = bytes.withUnsafeBytes { Inotify.events(in: $0) }
    #expect(events.map { $0.number } == [3, 4, -1])
    #expect(events.map { $0.isNamed } == [false, true, false])
    #expect(events[1].mask.contains(.deleted) && events[2].mask == .overflow)
    #expect(bytes.withUnsafeBytes { Inotify.events(in: .init(rebasing: $0[..<10])) }.isEmpty)
  }

  @Test func `of mounts are read from proc`() {
    #expect(Mounts.mount(inInfo: "pos:\t0\nflags:\t02\nmnt_id:\t42\nino:\t2\n") == 42)
    #expect(Mounts.mount(inInfo: "pos:\t0\n") == nil)
    #expect(Mounts.mounts(in: "31 23 0:28 / /sys rw - a b c\n108 1 0:2 / / rw\n") == [31, 108])
  }
}
