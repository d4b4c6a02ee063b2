// Room: Sources/File/FileEvents. Derives a file's events from what the kernel reports.
// inotify(7) reports that a file was modified, not that it grew, and has one event for attributes
// and link count. So the file's status is compared with the last one. The file may have changed
// again by the time that the status is read. Each part of the last status is therefore replaced
// only together with the event that stands for it: a change that shows already, but whose event is
// still to come, is then reported once, with that event.

/// A set of events, with the bits of `DispatchSource.FileSystemEvent`.
struct FileEvents: OptionSet, Hashable, Sendable {
  let rawValue: UInt64

  static let delete = FileEvents(rawValue: 0x01)
  static let write = FileEvents(rawValue: 0x02)
  static let extend = FileEvents(rawValue: 0x04)
  static let attrib = FileEvents(rawValue: 0x08)
  static let link = FileEvents(rawValue: 0x10)
  static let rename = FileEvents(rawValue: 0x20)
  static let revoke = FileEvents(rawValue: 0x40)

  /// The inotify events to ask the kernel for.
  func interest(isDirectory: Bool) -> Inotify.Mask {
    // This one costs nothing, so it is always part of the mask, which must not be empty.
    var asked: Inotify.Mask = .deletedSelf
    if !isDisjoint(with: [.write, .extend]) {
      asked.formUnion(isDirectory ? .contents : .modified)
    }
    if !isDisjoint(with: [.attrib, .link, .delete]) { asked.formUnion(.attributes) }
    // Subdirectories count as links.
    if isDirectory && contains(.link) { asked.formUnion(.contents) }
    if contains(.rename) || isDirectory && needsParent { asked.formUnion(.movedSelf) }
    return asked
  }

  /// Whether a directory's parent has to be watched. Only its watch reports the removal of an open
  /// directory.
  var needsParent: Bool { !isDisjoint(with: [.delete, .link]) }

  /// Returns the events that the inotify events `seen` stand for, by the status before and now.
  static func reported(
    by seen: Inotify.Mask, before: FileStatus, now: FileStatus
  ) -> FileEvents {
    var reported: FileEvents = []
    if seen.contains(.movedSelf) { reported.insert(.rename) }
    if seen.contains(.unmounted) { reported.insert(.revoke) }
    if seen.contains(.deletedSelf) { reported.insert(.delete) }
    if seen.changesContents(of: now) {
      reported.insert(.write)
      if now.size > before.size { reported.insert(.extend) }
    }
    if seen.changesLinks(of: now) && now.links != before.links {
      reported.insert(.link)
      if now.links == 0 { reported.insert(.delete) }
    }
    if seen.contains(.attributes) {
      // A directory's own link count changes without this event, unless the directory is gone.
      let isForLinks = now.isDirectory ? now.links == 0 : now.links != before.links
      let isReported = isForLinks || now.hasLostItsNames(since: before)
      if !isReported || !now.hasSameAttributes(as: before) { reported.insert(.attrib) }
      if now.mayHaveHadOtherNames(since: before) { reported.insert(.link) }
    }
    return reported
  }

  /// Returns the events that must have turned `before` into `now`, where the kernel reported none.
  static func between(_ before: FileStatus, _ now: FileStatus) -> FileEvents {
    if before == now { return [] }
    var reported: FileEvents = []
    if now.modified != before.modified || now.size != before.size { reported.insert(.write) }
    if now.size > before.size { reported.insert(.extend) }
    if now.links != before.links { reported.insert(.link) }
    if now.links == 0 && before.links != 0 { reported.insert(.delete) }
    if !now.hasSameAttributes(as: before) { reported.insert(.attrib) }
    // Something has changed that the status does not show; another name is one such change.
    if reported.isEmpty { reported = [.attrib, .rename] }
    return reported
  }

  /// Returns the events to assume after the kernel has lost some.
  static func missed(_ before: FileStatus, _ now: FileStatus) -> FileEvents {
    // Neither times nor sizes prove that nothing was written: clocks are coarse, and a size may
    // return to its old value.
    between(before, now).union([.write, .extend, .attrib, .link, .rename])
  }
}

extension Inotify.Mask {
  func changesContents(of status: FileStatus) -> Bool {
    !isDisjoint(with: status.isDirectory ? .contents : .modified)
  }

  func changesLinks(of status: FileStatus) -> Bool {
    contains(.attributes) || status.isDirectory && !isDisjoint(with: .contents)
  }
}

extension FileStatus {
  func hasSameAttributes(as other: FileStatus) -> Bool {
    mode == other.mode && user == other.user && group == other.group
  }

  /// Whether nothing differs from `before`, which already shows that the last name is gone. If two
  /// names are removed before the first event is read, the second event finds this.
  func hasLostItsNames(since before: FileStatus) -> Bool {
    !isDirectory && links == 0 && before.links == 0 && changed == before.changed
  }

  /// Whether a name may have come and gone since `before`: the change time differs, and nothing
  /// else that the status shows. A change of extended attributes or of the access time looks the
  /// same. A directory has one name.
  func mayHaveHadOtherNames(since before: FileStatus) -> Bool {
    !isDirectory && changed != before.changed && links == before.links
      && modified == before.modified && hasSameAttributes(as: before)
  }

  /// Returns the status with those parts of `now` that the events `seen` stand for.
  func updated(to now: FileStatus, by seen: Inotify.Mask) -> FileStatus {
    var next = self
    if seen.changesContents(of: now) {
      next.size = now.size
      next.modified = now.modified
    }
    if seen.changesLinks(of: now) { next.links = now.links }
    if seen.contains(.attributes) {
      (next.mode, next.user, next.group) = (now.mode, now.user, now.group)
      // Programs can set the time (utimensat(2)). A write is still reported: it has an event of its
      // own.
      next.modified = now.modified
      // Not replaced for a write: a name that came and went after it must still be reported.
      next.changed = now.changed
    }
    return next
  }
}
