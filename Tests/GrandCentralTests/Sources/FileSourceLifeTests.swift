// File system sources made and ended while files change; clients' mistakes: contract rows S5, S7.
import Glibc
import GrandCentral
import TestSupport
import Testing

@Suite("File system sources") struct FileSourceLifeTests {
  private let folder = ScratchFolder()

  @Test func `cancelled while events are in flight report nothing after`() {
    let file = folder.file("file")
    let isOver = Box(false)
    let writer = TestThread("writer") {
      while !isOver.value { _ = pwrite(file, "x", 1, 0) }
    }
    for _ in 0..<stressed(300) {
      let source = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: dup(file), eventMask: .all)
      let log = Log<String>()
      let descriptor = source.handle
      let done = Latch()
      source.setEventHandler { log.append("event") }
      source.setCancelHandler {
        log.append("cancelled")
        close(descriptor)
        done.open()
      }
      source.activate()
      #expect(log.waitForCount(1))
      source.cancel()
      #expect(done.wait())
      #expect(log.all.last == "cancelled")
      #expect(log.all.filter { $0 == "cancelled" }.count == 1)
    }
    isOver.value = true
    #expect(writer.join())
    close(file)
  }

  @Test func `come and go in a storm of changes, and the last one reports`() {
    var random = SeededGenerator(for: "file storm")
    let seeds = (0..<4).map { _ in random.next() }
    let folder = folder
    #expect(
      onThreads(4) { number in
        var random = SeededGenerator(seed: seeds[number])
        let path = folder["place\(number)"]
        var watchers: [FileWatcher] = []
        for _ in 0..<stressed(150) { step(path, &random, &watchers) }
        for watcher in watchers { watcher.end() }
        removeTree(path)
      })
    let file = FileWatcher(folder.file("last"))
    writeBytes(file.descriptor, 1)
    #expect(file.hears([.write, .extend]))
    file.end()
  }

  private func step(
    _ path: String, _ random: inout SeededGenerator, _ watchers: inout [FileWatcher]
  ) {
    let file = "\(path)/\(random.next() % 4)"
    mkdir(path, 0o755)
    switch random.next() % 7 {
    case 0, 1:
      let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
      let mask = FileSystemEvent(rawValue: UInt(random.next() % 0x7f + 1))
      if descriptor >= 0 { watchers.append(FileWatcher(descriptor, mask)) }
    case 2:
      let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      if descriptor >= 0 { watchers.append(FileWatcher(descriptor, [.delete, .write, .link])) }
    case 3:
      let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
      writeBytes(descriptor, 1)
      close(descriptor)
    case 4: rename(file, "\(path)/\(random.next() % 4)")
    case 5: removeTree(random.next() % 4 == 0 ? path : file)
    default:
      let place = watchers.indices.randomElement(using: &random)
      if let place { watchers.remove(at: place).end() }
    }
  }

  @Test func `use no descriptors of their own, however many there have been`() async {
    // In a process of its own, where no other code opens descriptors.
    _ = await #expect(processExitsWith: .success) {
      let folder = ScratchFolder()
      let file = folder.file("file")
      let place = folder.folder("place")
      FileWatcher(dup(file)).end()
      let before = settledDescriptors()
      for _ in 0..<5000 {
        for descriptor in [file, place] {
          let source = DispatchSource.makeFileSystemObjectSource(
            fileDescriptor: descriptor, eventMask: .all)
          source.activate()
          source.cancel()
        }
      }
      FileWatcher(dup(file)).end()
      FileWatcher(dup(place)).end()
      // Sources that are ending may have a folder open briefly.
      let isFlat = eventually { openDescriptors() <= before }
      if !isFlat { print("\(before) descriptors before, \(openDescriptors()) after") }
      exit(isFlat ? 0 : 1)
    }
  }

  @Test func `closed too early is reported, and the others continue`() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      wantAllReports()
      let folder = ScratchFolder()
      let file = folder.file("file")
      let queue = DispatchQueue(label: "early")
      let lost = FileWatcher(dup(file), .write, closes: false, queue: queue)
      let reused = FileWatcher(dup(file), .write, closes: false, queue: queue)
      let kept = FileWatcher(dup(file), .write)
      close(lost.descriptor)
      let other = folder.file("other")
      dup2(other, reused.descriptor)
      writeBytes(file, 1)
      guard kept.hears(.write) else { exit(1) }
      settleFiles(in: folder)
      writeBytes(other, 1)
      settleFiles(in: folder)
      exit(lost.all.isEmpty && reused.all.isEmpty ? 0 : 2)
    }
    let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(errors.contains("BUG IN CLIENT OF GRAND CENTRAL"), "\(errors)")
    #expect(errors.contains("file system source of descriptor"), "\(errors)")
    #expect(errors.contains("queue 'early'") && errors.contains("cancel()"), "\(errors)")
    #expect(errors.split(separator: "\n").filter { $0.contains("was closed before") }.count == 2)
  }

  @Test func `of a descriptor that was never open are reported`() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      wantAllReports()
      let never = FileWatcher(1000, .write, closes: false)
      never.end()
      exit(0)
    }
    let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(errors.contains("file system source of descriptor 1000"), "\(errors)")
    #expect(errors.contains("never open"), "\(errors)")
  }

  @Test func `of no descriptor stops the process and names the fix`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = DispatchSource.makeFileSystemObjectSource(fileDescriptor: -1, eventMask: .all)
    }
    expectReport(result, names: ["-1"], says: ["open()"])
  }

  @Test func `for no event stops the process and names the fix`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = DispatchSource.makeFileSystemObjectSource(fileDescriptor: 0, eventMask: [])
    }
    expectReport(result, names: ["file system source"], says: ["FileSystemEvent"])
  }

  @Test func `for an unknown event stops the process and names the fix`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: 0, eventMask: DispatchSource.FileSystemEvent(rawValue: 0x80))
    }
    expectReport(result, names: ["128"], says: ["FileSystemEvent"])
  }
}
