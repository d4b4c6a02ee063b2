// Records a process: makes it record, collects events, writes a file. Lease.swift says how long the
// program records after its recorder was killed.
import CGrandCentralLinux
import Glibc
import GrandCentralCore

package final class Recorder {
  private let board: BoardFile
  private let output: Int32
  private let outputPath: String
  private var reader = EventReader()
  private var lease: Lease
  package private(set) var bytesWritten = 0
  private var process = 0
  private var knownMaps: Set<String> = []

  /// Opens the files; start() begins.
  package init(board: BoardFile, output path: String) throws {
    self.board = board
    lease = Lease(board)
    outputPath = path
    output = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard output >= 0 else { throw InsideError("\(path): \(systemMessage())") }
  }

  deinit { close(output) }

  /// Begins to record. `isFresh`: the program was started with GRANDCENTRAL_RECORD, and all its
  /// events are wanted.
  package func start(_ level: EventLevel, isFresh: Bool = false) throws {
    let snapshot = try Snapshot(board)
    if lease.hasOtherRecorder {
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
    try lease.begin(level)
  }

  /// Writes what has come since the last call.
  package func collect() throws {
    for batch in reader.read(board) { try write(RecordingFile.pack(batch)) }
    if try lease.renewIfDue() { try writeMaps() }
  }

  /// Ends the recording.
  package func stop() throws {
    try lease.end()
    // A thread that saw the level before may still write an event or two.
    for _ in 0..<2 { try collect() }
    try writeClock()
    try writeMaps()
    if let snapshot = try? Snapshot(board) { try writeNames(snapshot) }
    try write(RecordingFile.block(.lost) { $0.put(reader.lostWords) })
  }

  private func writeClock() throws {
    let (ticks, time) = (lease.now, gc_monotonic())
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
}
