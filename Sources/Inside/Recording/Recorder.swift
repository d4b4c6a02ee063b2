// Records a process: sets the control word of its board, collects events, writes a file.
// The recorder renews a lease once a second. If it is killed, the program stops to record when the
// lease ends, because nothing else would clear the control word.
import CGrandCentralLinux
import Glibc
import GrandCentralCore

package final class Recorder {
  private let board: BoardFile
  private let output: Int32
  private let outputPath: String
  private var reader = EventReader()
  private let countsTicks = gc_counts_ticks()
  private var lease: Lease
  private var leaseEnds: UInt64 = 0
  package private(set) var bytesWritten = 0
  private var process = 0
  private var knownMaps: Set<String> = []

  private static var leaseNanoseconds: UInt64 { 5_000_000_000 }

  /// Opens the files; start() begins.
  package init(board: BoardFile, output path: String) throws {
    self.board = board
    lease = Lease(board)
    outputPath = path
    output = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard output >= 0 else { throw InsideError("\(path): \(systemMessage())") }
  }

  deinit { close(output) }

  private var now: UInt64 { gc_ticks(countsTicks) }

  /// Begins to record. `isFresh`: the program was started with GRANDCENTRAL_RECORD, and all its
  /// events are wanted.
  package func start(_ level: EventLevel, isFresh: Bool = false) throws {
    let snapshot = try Snapshot(board)
    let end = words(EventLayout.lease, 1)[0]
    if lease.otherLevel != nil, end != UInt64.max {
      throw InsideError("Another recording of process \(snapshot.process) is running.")
    }
    try write(RecordingFile.mark)
    try write(
      RecordingFile.block(.process) {
        $0.put(UInt64(snapshot.process))
        $0.put(snapshot.name)
        $0.put(level == .sampled ? UInt64(EventLayout.sampleInterval) : 1)
        $0.put(UInt64(snapshot.width))
        $0.put(UInt64(snapshot.maxThreads))
      })
    process = snapshot.process
    try writeMaps()
    try writeClock()
    try writeNames(snapshot)
    if !isFresh { reader.skip(board) }
    board.prepareEvents()
    try renewLease()
    try set(EventLayout.control, board.controlOfNewRecording(level, countsTicks: countsTicks))
  }

  /// Writes what has come since the last call.
  package func collect() throws {
    for batch in reader.read(board) { try write(RecordingFile.pack(batch)) }
    if gc_monotonic() > leaseEnds &- Self.leaseNanoseconds &+ 1_000_000_000 {
      try renewLease()
      try writeMaps()
    }
  }

  /// Ends the recording.
  package func stop() throws {
    try set(EventLayout.control, 0)
    try set(EventLayout.lease, UInt64.max)
    // A thread that saw the level before may still write an event or two.
    for _ in 0..<2 { try collect() }
    try writeClock()
    try writeMaps()
    if let snapshot = try? Snapshot(board) { try writeNames(snapshot) }
    try write(RecordingFile.block(.lost) { $0.put(reader.lostWords) })
  }

  private func renewLease() throws {
    // collect() renews it a second after this.
    let pause = try lease.renew()
    leaseEnds = gc_monotonic() + Self.leaseNanoseconds - 1_000_000_000 + pause
  }

  private func words(_ index: Int, _ count: Int) -> [UInt64] {
    let words = board.words(at: index * 8, count: count)
    return words.count == count ? words : Array(repeating: 0, count: count)
  }

  private func set(_ index: Int, _ value: UInt64) throws {
    guard board.write(value, at: index * 8) else {
      throw InsideError("The board cannot be written: \(systemMessage()).")
    }
  }

  private func writeClock() throws {
    let (ticks, time) = (now, gc_monotonic())
    try write(
      RecordingFile.block(.clock) {
        $0.put(ticks)
        $0.put(time)
      })
  }

  /// Writes where code lies, as far as it is new: a program may load libraries at any time. A
  /// process that has ended has no code any more.
  private func writeMaps() throws {
    for line in (readText("/proc/\(process)/maps") ?? "").split(separator: "\n") {
      guard let map = CodeMap(line: line), knownMaps.insert(String(line)).inserted else { continue }
      try write(
        RecordingFile.block(.map) {
          $0.put(map.first)
          $0.put(map.last)
          $0.put(map.offset)
          $0.put(map.path)
        })
    }
  }

  private func writeNames(_ snapshot: Snapshot) throws {
    var names: [UInt8] = []
    for thread in snapshot.threads {
      names += RecordingFile.block(.thread) {
        $0.put(UInt64(thread.id))
        $0.put(thread.name)
      }
    }
    let kinds: [QueueRecord.Kind] = [.serial, .concurrent, .global, .main]
    for queue in snapshot.queues.values {
      names += RecordingFile.block(.queue) {
        $0.put(UInt64(queue.place))
        $0.put(UInt64(kinds.firstIndex(of: queue.kind) ?? kinds.count))
        $0.put(queue.label)
      }
    }
    try write(names)
  }

  private func write(_ bytes: [UInt8]) throws {
    guard writeFully(bytes, to: output) else {
      throw InsideError("\(outputPath): \(systemMessage())")
    }
    bytesWritten += bytes.count
  }
}

extension BoardFile {
  /// Takes memory for all events, so that the program need not do that page by page, when it first
  /// writes to each: that takes as long as 400 events. See EventChunk.touch(). If the system
  /// refuses it, the program does it: madvise(2), MADV_POPULATE_READ, since Linux 5.14.
  package func prepareEvents() {
    let populate: Int32 = 22
    let bytes = EventLayout.chunkArea
    let offset = off_t(EventLayout.chunksOffset)
    let memory = mmap(nil, bytes, PROT_READ, MAP_SHARED, descriptor, offset)
    guard let memory, memory != MAP_FAILED else { return }
    // Not by reading it: if the process has shrunk its file, that ends the reader by a signal.
    _ = madvise(memory, bytes, populate)
    munmap(memory, bytes)
  }

  /// Counts another recording, and returns its control word.
  func controlOfNewRecording(_ level: EventLevel, countsTicks: Bool) -> UInt64 {
    let counted = words(at: EventLayout.recordings * 8, count: 1).first ?? 0
    // A recording without a number of its own shows less of an earlier one's names.
    _ = write(counted &+ 1, at: EventLayout.recordings * 8)
    return EventLayout.control(level, countsTicks: countsTicks)
      | (counted &+ 1) << EventLayout.recordingShift
  }

  /// Writes a word of the header. False: errno says why.
  func write(_ word: UInt64, at offset: Int) -> Bool {
    var word = word
    return pwrite(descriptor, &word, 8, off_t(offset)) == 8
  }
}

package func writeFully(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
  var done = 0
  while done < bytes.count {
    let written = bytes.withUnsafeBytes {
      Glibc.write(descriptor, $0.baseAddress.unsafelyUnwrapped + done, bytes.count - done)
    }
    if written < 0 && errno == EINTR { continue }
    if written <= 0 { return false }
    done += written
  }
  return true
}
