// File system sources: contract rows S1, S3, S4, S5, S7.
import Glibc
import GrandCentral
import TestSupport
import Testing

/// O_PATH, open(2), which the C library's module does not export.
private let pathOnly: Int32 = 0o10_000_000

@Suite("A source of a file") struct FileSourceTests {
  private let folder = ScratchFolder()

  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let heard: FileSystemEvent
    let make: @Sendable (ScratchFolder, Int32) -> Void

    init(
      _ name: String, _ heard: FileSystemEvent,
      _ make: @escaping @Sendable (ScratchFolder, Int32) -> Void
    ) {
      testDescription = name
      self.heard = heard
      self.make = make
    }
  }

  /// Changes to a file of ten bytes that has a second name, "other".
  static let changes = [
    Change("is written within its size", .write) { _, file in _ = pwrite(file, "x", 1, 0) },
    Change("is written beyond its end", [.write, .extend]) { _, file in
      _ = pwrite(file, "x", 1, 10)
    },
    Change("is truncated", .write) { _, file in _ = ftruncate(file, 2) },
    Change("is made longer", [.write, .extend]) { _, file in _ = ftruncate(file, 20) },
    Change("gets other permissions", .attrib) { _, file in _ = fchmod(file, 0o600) },
    Change("gets other times", .attrib) { _, file in _ = futimens(file, nil) },
    Change("gets one more name", .link) { folder, _ in _ = link(folder["file"], folder["more"]) },
    Change("loses one of its names", .link) { folder, _ in _ = unlink(folder["other"]) },
    Change("loses all names", [.link, .delete]) { folder, _ in
      unlink(folder["other"])
      unlink(folder["file"])
    },
    Change("is renamed", .rename) { folder, _ in _ = rename(folder["file"], folder["new"]) },
    Change("is moved to another folder", .rename) { folder, _ in
      mkdir(folder["sub"], 0o755)
      rename(folder["file"], folder["sub/file"])
    },
    Change("is replaced under one of its names", .link) { folder, _ in
      close(folder.file("new"))
      rename(folder["new"], folder["file"])
    },
    Change("is read", []) { folder, _ in
      let file = open(folder["file"], O_RDONLY)
      readBytes(file, atMost: 1)
      close(file)
    },
  ]

  @Test(arguments: changes)
  func `reports that it`(_ change: Change) {
    let file = folder.file("file")
    writeBytes(file, 10)
    link(folder["file"], folder["other"])
    let watcher = FileWatcher(file)
    let picky = FileWatcher(dup(file), FileSystemEvent.all.subtracting(change.heard))
    change.make(folder, file)
    #expect(watcher.hears(change.heard))
    settleFiles(in: folder)
    #expect(watcher.heard == change.heard)
    #expect(picky.all.isEmpty)
    watcher.end()
    picky.end()
  }

  @Test func `reports a name that is made and removed at once`() {
    let file = folder.file("file")
    for _ in 0..<50 {
      let watcher = FileWatcher(file, .link, closes: false)
      // With a coarse clock the change time may stay the same, and the change cannot be detected.
      let before = changeTime(of: file)
      repeat {
        link(folder["file"], folder["other"])
        unlink(folder["other"])
      } while changeTime(of: file) == before
      #expect(watcher.hears(.link))
      watcher.end()
    }
    close(file)
  }

  private func changeTime(of file: Int32) -> [Int] {
    var status = stat()
    #expect(fstat(file, &status) == 0)
    return [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
  }

  @Test func `has the properties that it was created with, typed and as numbers`() {
    let file = folder.file("file")
    let source = DispatchSource.makeFileSystemObjectSource(
      fileDescriptor: file, eventMask: [.write, .delete])
    let handle: Int32 = source.handle
    let mask: FileSystemEvent = source.mask
    let general: any DispatchSourceProtocol = source
    #expect(handle == file)
    #expect(mask == [.write, .delete])
    #expect(source.data.isEmpty)
    #expect(general.handle == UInt(file))
    #expect(general.mask == 3)
    #expect(general.data == 0)
    #expect(FileSystemEvent.all.rawValue == 0x7f)
    #expect(FileSystemEvent.funlock.rawValue == 0x100)
    source.activate()
    source.cancel()
    close(file)
  }

  @Test func `saved by writing a new one over it reports its end; a new source watches the new`() {
    let old = FileWatcher(folder.file("settings"))
    let new = folder.file("settings~")
    writeBytes(new, 10)
    rename(folder["settings~"], folder["settings"])
    #expect(old.hears([.delete, .link]))
    old.end()
    let again = FileWatcher(open(folder["settings"], O_RDONLY | O_CLOEXEC))
    writeBytes(new, 10)
    #expect(again.hears([.write, .extend]))
    again.end()
    close(new)
  }

  @Test func `saved by renaming it away first reports that`() {
    let old = FileWatcher(folder.file("settings"))
    rename(folder["settings"], folder["settings~"])
    close(folder.file("settings"))
    #expect(old.hears(.rename))
    unlink(folder["settings~"])
    #expect(old.hears([.delete]))
    old.end()
  }

  @Test func `reports changes through any descriptor, name and mode`() {
    let file = folder.file("file")
    link(folder["file"], folder["other"])
    let watchers = [
      FileWatcher(open(folder["file"], O_WRONLY | O_CLOEXEC), [.write]),
      FileWatcher(open(folder["other"], O_RDONLY | O_CLOEXEC), [.extend, .attrib]),
      FileWatcher(open(folder["other"], pathOnly | O_CLOEXEC), [.write, .rename]),
      FileWatcher(dup(file), .delete),
    ]
    rename(folder["other"], folder["third"])
    #expect(watchers[2].hears(.rename))
    writeBytes(file, 1)
    for (watcher, event) in zip(watchers, [.write, .extend, .write] as [FileSystemEvent]) {
      #expect(watcher.hears(event))
    }
    unlink(folder["third"])
    // Removes one name at a time: if both are gone at the first look, the second event shows no
    // change.
    settleFiles(in: folder)
    unlink(folder["file"])
    #expect(watchers[3].hears(.delete))
    settleFiles(in: folder)
    #expect(watchers.map { $0.heard } == [.write, .extend, [.write, .rename], .delete])
    for watcher in watchers { watcher.end() }
    close(file)
  }

  @Test func `leaves other sources their events when it ends`() {
    let file = folder.file("file")
    let first = FileWatcher(dup(file), .all)
    let second = FileWatcher(dup(file), .write)
    let third = FileWatcher(dup(file), .attrib)
    first.end()
    second.end()
    writeBytes(file, 1)
    fchmod(file, 0o600)
    #expect(third.hears(.attrib))
    settleFiles(in: folder)
    #expect(third.heard == .attrib)
    #expect(first.all.isEmpty && second.all.isEmpty)
    let fourth = FileWatcher(dup(file), [.write, .extend])
    writeBytes(file, 1)
    #expect(fourth.hears([.write, .extend]))
    third.end()
    fourth.end()
    close(file)
  }

  @Test func `does not report what happened before it watched`() {
    let file = folder.file("file")
    let first = FileWatcher(dup(file))
    for _ in 0..<100 {
      writeBytes(file, 1)
      fchmod(file, 0o600)
      let late = FileWatcher(dup(file), [.write, .attrib])
      late.end()
      #expect(late.all.isEmpty)
    }
    first.end()
    close(file)
  }

  @Test func `that is suspended reports all events at once on resume`() {
    let file = folder.file("file")
    let watcher = FileWatcher(file)
    let other = FileWatcher(dup(file), .rename)
    watcher.source.suspend()
    for _ in 0..<10 { writeBytes(file, 1) }
    fchmod(file, 0o600)
    rename(folder["file"], folder["new"])
    #expect(other.hears(.rename))
    settleFiles(in: folder)
    let before = watcher.all.count
    watcher.source.resume()
    #expect(watcher.hears([.write, .extend, .attrib, .rename]))
    settle()
    // A source that is being suspended may still handle one event that was in flight.
    #expect(watcher.all.count == before + 1 && before <= 1)
    watcher.end()
    other.end()
  }

  @Test func `of an unlinked file still reports that file`() {
    let file = folder.file("file")
    unlink(folder["file"])
    close(folder.file("file"))
    let watcher = FileWatcher(file)
    writeBytes(file, 1)
    #expect(watcher.hears([.write, .extend]))
    settleFiles(in: folder)
    #expect(watcher.heard == [.write, .extend])
    watcher.end()
  }

  @Test func `reports that its file system is unmounted`() throws {
    let place = folder["mount"]
    mkdir(place, 0o755)
    guard mount("none", place, "tmpfs", 0, nil) == 0 else {
      print("skipped: mount(2) is refused, errno \(errno)")
      return
    }
    let file = FileWatcher(folder.file("mount/file"))
    let deaf = FileWatcher(folder.file("mount/file"), .write)
    let outside = FileWatcher(folder.file("file"))
    #expect(umount2(place, Int32(MNT_DETACH)) == 0)
    #expect(file.hears(.revoke))
    writeBytes(file.descriptor, 1)
    #expect(file.hears(.write) && deaf.hears(.write))
    settleFiles(in: folder)
    #expect(file.all.filter { $0.contains(.revoke) }.count == 1)
    #expect(deaf.heard == .write && outside.all.isEmpty)
    for watcher in [file, deaf, outside] { watcher.end() }
  }

  @Test func `without a handler or reference leaves nothing behind`() {
    let file = folder.file("file")
    let gone = Latch()
    do {
      let witness = Witness { gone.open() }
      let source = DispatchSource.makeFileSystemObjectSource(fileDescriptor: file, eventMask: .all)
      source.setEventHandler { _ = witness }
      source.activate()
      writeBytes(file, 1)
    }
    #expect(gone.wait())
    close(file)
  }
}

@Suite("A source of a directory") struct DirectorySourceTests {
  private let folder = ScratchFolder()

  typealias Change = FileSourceTests.Change

  /// Changes to a directory with a file "in" and a directory "sub".
  static let changes = [
    Change("gets a file", .write) { folder, _ in close(folder.file("place/new")) },
    Change("loses a file", .write) { folder, _ in _ = unlink(folder["place/in"]) },
    Change("has a file renamed in it", .write) { folder, _ in
      rename(folder["place/in"], folder["place/new"])
    },
    Change("gets a file from elsewhere", .write) { folder, _ in
      close(folder.file("file"))
      rename(folder["file"], folder["place/new"])
    },
    Change("loses a file to elsewhere", .write) { folder, _ in
      rename(folder["place/in"], folder["file"])
    },
    Change("gets a subdirectory", [.write, .link]) { folder, _ in
      mkdir(folder["place/new"], 0o755)
    },
    Change("loses a subdirectory", [.write, .link]) { folder, _ in rmdir(folder["place/sub"]) },
    Change("gets other permissions", .attrib) { _, place in _ = fchmod(place, 0o700) },
    Change("is renamed", .rename) { folder, _ in _ = rename(folder["place"], folder["new"]) },
    Change("has a file written in it", []) { folder, _ in
      let file = open(folder["place/in"], O_WRONLY)
      writeBytes(file, 1)
      fchmod(file, 0o600)
      close(file)
    },
  ]

  @Test(arguments: changes)
  func `reports that it`(_ change: Change) {
    let place = folder.folder("place")
    close(folder.file("place/in"))
    mkdir(folder["place/sub"], 0o755)
    let watcher = FileWatcher(place)
    let picky = FileWatcher(dup(place), FileSystemEvent.all.subtracting(change.heard))
    change.make(folder, place)
    #expect(watcher.hears(change.heard))
    settleFiles(in: folder)
    // The file system decides whether a directory grows with its entries.
    #expect(watcher.heard.subtracting(.extend) == change.heard)
    #expect(picky.heard.subtracting(.extend) == [])
    watcher.end()
    picky.end()
  }

  @Test func `reports its end, also after a move`() {
    let place = FileWatcher(folder.folder("place"), [.delete, .write])
    mkdir(folder["far"], 0o755)
    let moves = FileWatcher(dup(place.descriptor), .rename)
    rename(folder["place"], folder["far/place"])
    #expect(moves.hears(.rename))
    rename(folder["far"], folder["farther"])
    rmdir(folder["farther/place"])
    #expect(place.hears(.delete))
    settleFiles(in: folder)
    #expect(place.heard == .delete)
    place.end()
    moves.end()
  }

  @Test func `moved and removed at once still reports its end`() {
    mkdir(folder["far"], 0o755)
    for _ in 0..<200 {
      let place = FileWatcher(folder.folder("place"), .delete)
      rename(folder["place"], folder["far/place"])
      rmdir(folder["far/place"])
      #expect(place.hears(.delete))
      place.end()
    }
  }

  @Test func `replaced by another directory reports its end`() {
    let place = FileWatcher(folder.folder("place"))
    mkdir(folder["new"], 0o755)
    rename(folder["new"], folder["place"])
    #expect(place.hears([.delete, .link]))
    place.end()
  }

  @Test func `of a removed tree reports the end on each level`() {
    var path = "tree"
    var levels: [FileWatcher] = []
    for level in 0..<8 {
      levels.append(FileWatcher(folder.folder(path)))
      levels.append(FileWatcher(folder.file(path + "/file")))
      path += "/\(level)"
    }
    removeTree(folder["tree"])
    for level in levels { #expect(level.hears([.delete, .link])) }
    // Every directory loses an entry; the lowest one loses only its file.
    for place in stride(from: 0, to: levels.count, by: 2) { #expect(levels[place].hears(.write)) }
    for level in levels { level.end() }
  }

  @Test func `among a hundred others reports only its own end`() {
    let places = (0..<100).map { FileWatcher(folder.folder("place\($0)"), .delete) }
    for number in stride(from: 0, to: 100, by: 2) { rmdir(folder["place\(number)"]) }
    for number in stride(from: 0, to: 100, by: 2) { #expect(places[number].hears(.delete)) }
    settleFiles(in: folder)
    for number in stride(from: 1, to: 100, by: 2) { #expect(places[number].all.isEmpty) }
    for place in places { place.end() }
  }

  @Test func `at the root of the file system has no parent and is watched all the same`() {
    let top = FileWatcher(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), [.delete, .rename])
    settleFiles(in: folder)
    #expect(top.all.isEmpty)
    top.end()
  }
}
