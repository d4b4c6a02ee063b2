// Room: Sources/File/FileWatches. Watches files, through one inotify(7) instance in the poller.
// Invariant: the kernel has one watch per file, however many descriptors and names the file has.
// The sources of a file share the watch, which asks for the union of what they want.
// A watch never asks for less, because it would lose events: the kernel replaces a watch's mask in
// two steps, and reports nothing of what happens between them (fs/notify/inotify, in
// inotify_update_existing_watch()). Adding to the mask (IN_MASK_ADD) has no such gap. So a watch
// asks for what any of its sources has wanted until the last one leaves, and events that no source
// wants any more are dropped when they are read.
// Events are read under the lock, so they are delivered in the order in which they came. Before a
// source joins, the events so far are delivered to the sources that are there.
// The link count shows that a file was removed. It does not show that an open directory was
// removed; only the parent's watch reports that. So a directory whose sources want its removal has
// its parent watched as well, and the new parent after a move.
// A descriptor that was closed early shows when its file's status is read after an event: the
// descriptor is invalid, or stands for another file. Its source gets no more events, and a report
// says so on request. While a source is joined, the engine may use its descriptor. Sources leave
// under the lock, after which the engine does not touch the descriptor.

final class FileWatches: ReadinessReceiver, @unchecked Sendable {
  let poller: Poller
  let descriptors: DescriptorTable
  let mounts: Mounts
  let lock = Lock()
  /// Guarded by the lock, as are the properties below. The inotify instance; -1 before it exists.
  @Cell var instance: Int32 = -1
  @Cell var registration: Registration?
  @Cell var watches: [Int32: FileWatch] = [:]
  /// Entries that wait for a watch, which the system has refused for now.
  @Cell var lacking: [FileEntry] = []
  /// Directories whose parents cannot be watched for now.
  @Cell var parentless: Set<Int32> = []
  private let reports = Atomic<Int>(0)

  /// The number of reads in a row, while other threads wait for the lock or the poller waits for
  /// its thread.
  private static var maxReads: Int { 16 }
  private static var maxReports: Int { 10 }

  init(poller: Poller, descriptors: DescriptorTable) {
    self.poller = poller
    self.descriptors = descriptors
    mounts = Mounts(poller: poller)
  }

  // MARK: Entries

  /// Begins to deliver changes of its file to `entry`. Any thread.
  func join(_ entry: FileEntry, on thread: ThreadContext) {
    let error = prepare()
    var after = DeferredActions()
    let mount = entry.wanted.contains(.revoke) ? mounts.mount(of: entry.descriptor) : nil
    lock.withLock {
      // Events that came earlier are only for the entries that are already here.
      for _ in 0..<Self.maxReads { if receive(into: &after) { break } }
      entry.mount = mount
      if !entry.mayBeRefused { after.shortage = error }
      place(entry, &after)
    }
    if let mount { mounts.join(entry, mount, of: self, on: thread) }
    conclude(after, on: thread)
  }

  /// Ends all deliveries to `entry`, except one that a thread is about to make. Any thread, any
  /// number of times.
  func leave(_ entry: FileEntry) {
    let hadMount = lock.withLock {
      let hadMount = entry.mount != nil
      entry.mount = nil
      remove(entry)
      return hadMount
    }
    if hadMount { mounts.leave(entry) }
  }

  /// Delivers `.revoke` to `entry`: the file's mount is gone. Any thread.
  func revoke(_ entry: FileEntry, on thread: ThreadContext) {
    let isWatched = lock.withLock {
      defer { entry.mount = nil }
      return entry.mount != nil && entry.state != .over
    }
    if isWatched { entry.listener?.fileHasChanged(.revoke, on: thread) }
  }

  // MARK: Kernel events

  func becameReady(_ readiness: Readiness, on thread: ThreadContext) {
    for _ in 0..<Self.maxReads {
      var after = DeferredActions()
      let isEmpty = lock.withLock { receive(into: &after) }
      conclude(after, on: thread)
      if isEmpty { return }
    }
    // Events keep coming, and this thread may be the last one left to wait for other descriptors.
    // Changing the registration makes the kernel report the instance again.
    let error = lock.withLock { registration.map { poller.rearm($0) } ?? 0 }
    if error != 0 { poller.lack(self, error: error) }
  }

  /// The actions to take once the lock is free.
  struct DeferredActions {
    var notified: [(entry: FileEntry, events: FileEvents)] = []
    var lost: [FileEntry] = []
    var refused: [(entry: FileEntry, error: Int32)] = []
    var shortage: Int32 = 0
    var hasOverflowed = false
  }

  func conclude(_ after: DeferredActions, on thread: ThreadContext) {
    if after.hasOverflowed { reportOverflow() }
    for entry in after.lost {
      if let listener = entry.listener { descriptors.reportLoss(of: listener.listenerDescription) }
    }
    for (entry, error) in after.refused {
      if let listener = entry.listener { reportRefusal(error, of: listener.listenerDescription) }
    }
    for (entry, events) in after.notified {
      entry.listener?.fileHasChanged(events.intersection(entry.wanted), on: thread)
    }
    if after.shortage != 0 { poller.lack(self, error: after.shortage) }
  }

  // MARK: With the lock held: events

  /// Reads pending events, at most one buffer full. Returns whether there were none.
  private func receive(into after: inout DeferredActions) -> Bool {
    guard instance >= 0 else { return true }
    let events = Inotify.next(instance)
    var changed: [FileWatch] = []
    var hasOverflowed = false
    for event in events {
      if event.mask.contains(.overflow) { hasOverflowed = true }
      // Events left over from a removed watch have no receiver.
      guard let watch = watches[event.number] else { continue }
      if event.isNamed && event.mask.contains(.attributes) { continue }
      if watch.seen.isEmpty { changed.append(watch) }
      watch.seen.formUnion(event.mask)
    }
    for watch in changed { settle(watch, &after) }
    if hasOverflowed {
      after.hasOverflowed = true
      settleAll(&after)
    }
    return events.isEmpty
  }

  /// Works out what has happened to a file from the events seen.
  private func settle(_ watch: FileWatch, _ after: inout DeferredActions) {
    let seen = watch.seen
    watch.seen = []
    if let before = watch.status {
      if seen.contains(.unmounted) {
        // Open descriptors keep a file system mounted, so those of this one are closed.
        deliver(watch, .revoke, &after)
      }
      if let now = status(of: watch, &after) {
        deliver(watch, FileEvents.reported(by: seen, before: before, now: now), &after)
        watch.status = before.updated(to: now, by: seen)
      }
    }
    if seen.contains(.deleted) {
      for number in watch.children {
        if let child = watches[number] { checkRemoved(child, &after) }
      }
    }
    if seen.contains(.ignored) { return end(watch) }
    if seen.contains(.movedSelf) && watch.needsParent {
      place(parentOf: watch, &after)
    }
  }

  private func settleAll(_ after: inout DeferredActions) {
    for watch in watches.values {
      guard let before = watch.status, let now = status(of: watch, &after) else { continue }
      deliver(watch, FileEvents.missed(before, now), &after)
      watch.status = now
      // The directory may have moved.
      if watch.needsParent { place(parentOf: watch, &after) }
    }
  }

  private func checkRemoved(_ watch: FileWatch, _ after: inout DeferredActions) {
    guard let before = watch.status, let now = status(of: watch, &after), now.links == 0,
      before.links > 0
    else { return }
    watch.status?.links = 0
    deliver(watch, [.delete, .link], &after)
  }

  private func deliver(_ watch: FileWatch, _ events: FileEvents, _ after: inout DeferredActions) {
    for entry in watch.entries where !entry.wanted.isDisjoint(with: events) {
      after.notified.append((entry, events))
    }
  }

  /// Returns the file's current status, from the first of its descriptors that still stands for it.
  private func status(of watch: FileWatch, _ after: inout DeferredActions) -> FileStatus? {
    guard let known = watch.status else { return nil }
    for entry in watch.entries {
      switch FileStatus.of(entry.descriptor) {
      case .status(let now) where now.isSameFile(as: known): return now
      case .unknown: return known
      case .status, .closed:
        after.lost.append(entry)
        remove(entry)
      }
    }
    return nil
  }

  // MARK: With the lock held: watches

  /// Watches the entry's file. Returns whether the outcome is final: watched, lost, or refused for
  /// good.
  @discardableResult
  func place(_ entry: FileEntry, _ after: inout DeferredActions) -> Bool {
    guard entry.state == .new || entry.state == .lacking else { return true }
    guard let before = entry.first ?? status(of: entry) else { return lose(entry, &after) }
    entry.first = before
    let asked = entry.wanted.interest(isDirectory: before.isDirectory)
    let number = instance < 0 ? -EMFILE : Inotify.watch(instance, of: entry.descriptor, for: asked)
    // Read after the watch was placed: events report every later change.
    guard let now = status(of: entry), now.isSameFile(as: before) else {
      if number >= 0 && watches[number] == nil { Inotify.unwatch(instance, number) }
      return lose(entry, &after)
    }
    if number < 0 { return refuse(entry, error: -number, &after) }
    let watch = watch(number, asked)
    if watch.status == nil { watch.status = now }
    // The last status is out of date in the parts that the watch did not ask for until now.
    watch.status = watch.status?.updated(to: now, by: asked.subtracting(watch.asked))
    watch.asked.formUnion(asked)
    watch.entries.append(entry)
    entry.number = number
    entry.state = .watched
    let missed = FileEvents.between(before, now)
    if !missed.isEmpty { after.notified.append((entry, missed)) }
    if watch.needsParent && watch.parent == nil { place(parentOf: watch, &after) }
    return true
  }

  private func status(of entry: FileEntry) -> FileStatus? {
    guard case .status(let status) = FileStatus.of(entry.descriptor) else { return nil }
    return status
  }

  private func lose(_ entry: FileEntry, _ after: inout DeferredActions) -> Bool {
    entry.state = .over
    after.lost.append(entry)
    return true
  }

  /// Records a refusal. Returns whether it is final.
  private func refuse(_ entry: FileEntry, error: Int32, _ after: inout DeferredActions) -> Bool {
    if entry.mayBeRefused {
      entry.state = .over
      return true
    }
    switch error {
    case EMFILE, ENFILE, ENOMEM, ENOSPC:
      if entry.state != .lacking { lacking.append(entry) }
      entry.state = .lacking
      if after.shortage == 0 { after.shortage = error }
      return false
    default:
      entry.state = .over
      after.refused.append((entry, error))
      return true
    }
  }

  private func watch(_ number: Int32, _ asked: Inotify.Mask) -> FileWatch {
    if let known = watches[number] { return known }
    let made = FileWatch(number, asked: asked)
    watches[number] = made
    return made
  }

  /// Watches the directory that currently contains the watched directory.
  func place(parentOf watch: FileWatch, _ after: inout DeferredActions) {
    guard let entry = watch.entries.first else { return }
    let number = Inotify.watch(instance, .above, of: entry.descriptor, for: .deleted)
    if number < 0 {
      // No permission, or no /proc: see the documentation of file system sources.
      guard [ENOSPC, ENOMEM].contains(-number) else { return }
      parentless.insert(watch.number)
      if after.shortage == 0 { after.shortage = -number }
      return
    }
    parentless.remove(watch.number)
    let parent = self.watch(number, .deleted)
    parent.asked.formUnion(.deleted)
    if parent === watch || watch.parent === parent { return }
    detach(watch)
    watch.parent = parent
    parent.children.insert(watch.number)
    // The directory may have been removed before its parent was watched.
    checkRemoved(watch, &after)
  }

  /// Retries to watch a directory's parent.
  func placeParent(_ number: Int32, _ after: inout DeferredActions) {
    parentless.remove(number)
    if let watch = watches[number], watch.needsParent { place(parentOf: watch, &after) }
  }

  private func detach(_ watch: FileWatch) {
    guard let parent = watch.parent else { return }
    watch.parent = nil
    parent.children.remove(watch.number)
    if !parent.isNeeded { end(parent) }
  }

  private func remove(_ entry: FileEntry) {
    if entry.state == .lacking { lacking.removeAll { $0 === entry } }
    guard entry.state == .watched, let watch = watches[entry.number] else {
      entry.state = .over
      return
    }
    entry.state = .over
    watch.entries.removeAll { $0 === entry }
    if !watch.needsParent { detach(watch) }
    if watch.entries.isEmpty { watch.status = nil }
    if !watch.isNeeded { end(watch) }
  }

  private func end(_ watch: FileWatch) {
    guard watches.removeValue(forKey: watch.number) != nil else { return }
    parentless.remove(watch.number)
    for entry in watch.entries { entry.state = .over }
    watch.entries = []
    for number in watch.children { watches[number]?.parent = nil }
    watch.children = []
    detach(watch)
    Inotify.unwatch(instance, watch.number)
  }

  /// The number of watches that the kernel has been asked for.
  var count: Int { lock.withLock { watches.count } }

  // MARK: Reports

  private func reportOverflow() {
    reportFew(
      .fileEventsDropped,
      """
      GRAND CENTRAL: More happened to files than the kernel keeps until it is read (IN_Q_OVERFLOW, \
      inotify(7)). Every file system source is notified of all that it may have missed. \
      Raise /proc/sys/fs/inotify/max_queued_events, or watch less.
      """)
  }

  private func reportRefusal(_ error: Int32, of listener: String) {
    reportFew(
      .fileCannotBeWatched,
      """
      GRAND CENTRAL: The file of a \(listener) cannot be watched (errno \(error), \
      inotify_add_watch(2)). The source gets no events. Watching needs /proc, and permission to \
      read the file.
      """)
  }

  private func reportFew(_ kind: ReportKind, _ message: String) {
    guard kind.isPrinted else { return }
    let number = reports.wrappingAdd(1, ordering: .relaxed).newValue
    guard number <= Self.maxReports else { return }
    report(kind, message + (number < Self.maxReports ? "" : " Further ones are not reported."))
  }
}
