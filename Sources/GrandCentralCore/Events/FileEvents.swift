// Room: Events/FileEvents. What of a file's changes sources are told, and how it follows from what the kernel says.
// inotify(7) says that a file was modified, not that it grew, and has one word for attributes and link count. So the
// file's status is compared with the last one. The kernel may have gone on when the status is read: each part of the
// last status is replaced only together with the event that stands for it, so that a change which shows already, but
// whose event is still to come, is told then, and once.

/// The numbers are those of `DispatchSource.FileSystemEvent`.
struct FileEvents: OptionSet, Hashable, Sendable {
  let rawValue: UInt64

  static let delete = FileEvents(rawValue: 0x01)
  static let write = FileEvents(rawValue: 0x02)
  static let extend = FileEvents(rawValue: 0x04)
  static let attrib = FileEvents(rawValue: 0x08)
  static let link = FileEvents(rawValue: 0x10)
  static let rename = FileEvents(rawValue: 0x20)
  static let revoke = FileEvents(rawValue: 0x40)

  /// What the kernel is to be asked for.
  func interest(isDirectory: Bool) -> Inotify.Mask {
    // It asks for nothing unless there is something to ask for, so ask always for what costs nothing.
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

  /// Whether a directory's own parent has to be watched: only there it shows when a directory is removed that is open.
  var needsParent: Bool { !isDisjoint(with: [.delete, .link]) }

  /// What has happened when the kernel has said `seen`, and the status was `before` and is `now`.
  static func told(
    by seen: Inotify.Mask, before: FileStatus, now: FileStatus
  ) -> FileEvents {
    var told: FileEvents = []
    if seen.contains(.movedSelf) { told.insert(.rename) }
    if seen.contains(.unmounted) { told.insert(.revoke) }
    if seen.contains(.deletedSelf) { told.insert(.delete) }
    if seen.changesContents(of: now) {
      told.insert(.write)
      if now.size > before.size { told.insert(.extend) }
    }
    if seen.changesLinks(of: now) && now.links != before.links {
      told.insert(.link)
      if now.links == 0 { told.insert(.delete) }
    }
    if seen.contains(.attributes) {
      // A directory's own link count changes without this event, unless it is gone.
      let isForLinks = now.isDirectory ? now.links == 0 : now.links != before.links
      if !isForLinks || !now.hasSameAttributes(as: before) { told.insert(.attrib) }
      if now.mayHaveHadOtherNames(since: before) { told.insert(.link) }
    }
    return told
  }

  /// What must have happened for `before` to become `now`, where no event has told.
  static func between(_ before: FileStatus, _ now: FileStatus) -> FileEvents {
    if before == now { return [] }
    var told: FileEvents = []
    if now.modified != before.modified || now.size != before.size { told.insert(.write) }
    if now.size > before.size { told.insert(.extend) }
    if now.links != before.links { told.insert(.link) }
    if now.links == 0 && before.links != 0 { told.insert(.delete) }
    if !now.hasSameAttributes(as: before) { told.insert(.attrib) }
    // Something has, and nothing that shows; another name is among what does not.
    if told.isEmpty { told = [.attrib, .rename] }
    return told
  }

  /// What has to be taken to have happened when events were lost.
  static func missed(_ before: FileStatus, _ now: FileStatus) -> FileEvents {
    // Neither times nor sizes prove that nothing was written: clocks are coarse, and sizes may come back.
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

  /// Whether a name may have come and gone since `before`: the record has changed, and nothing that
  /// it shows has. A change of extended attributes or of the time of the last access looks the
  /// same. A directory has one name.
  func mayHaveHadOtherNames(since before: FileStatus) -> Bool {
    !isDirectory && changed != before.changed && links == before.links
      && modified == before.modified && hasSameAttributes(as: before)
  }

  /// With those parts of `now` that `seen` stands for.
  func updated(to now: FileStatus, by seen: Inotify.Mask) -> FileStatus {
    var next = self
    if seen.changesContents(of: now) {
      next.size = now.size
      next.modified = now.modified
    }
    if seen.changesLinks(of: now) { next.links = now.links }
    if seen.contains(.attributes) {
      (next.mode, next.user, next.group) = (now.mode, now.user, now.group)
      // Programs set it: utimensat(2). An event of its own reports a write, so none is lost here.
      next.modified = now.modified
      // Not for a write: a name that came and went after it is still to be reported.
      next.changed = now.changed
    }
    return next
  }
}
