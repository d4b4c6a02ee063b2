// Room: BlackBox/BlackBox. The board's memory: made once in a process, and anew in a forked child.
//   closed ─open→ its address          under the lock, by the first thread that makes a worker,
//                                      waits, or submits to a suspended queue
//   closed ─open→ refused              the system gives no memory: the engine works without a board
//   address, refused ─fork→ closed     in the child, which does not inherit the mapping
// `generation` counts the boards of a process and of its parents: a lane or a thread whose number
// is older has no record on this board. It is not that of ForkGate, whose address costs a call of
// swift_once(). Any thread may read both words; once open, they change in a forked child alone.
// The slots of threads are given under the lock. A slot keeps its writer, and with it the turn, so
// that the turns of a record grow from one thread to the next.
import CGrandCentralLinux

/// What a thread writes its record through. Only the thread that has the slot uses it.
struct BoardWriter {
  let record: BoardRecord
  let slot: Int
  var turn: UInt64 = 0
  var identity: UInt64 = 0
  /// The current queue, as the record shows it, and since when.
  var place: UInt32 = 0
  var placeSince: UInt64 = 0
  /// The next one of those that no thread has.
  var nextFree: UnsafeMutablePointer<BoardWriter>?
}

// SAFETY: the lock guards all that is not atomic.
package final class BlackBox: @unchecked Sendable {
  package static let shared = BlackBox()

  private static var refused: UInt { 1 }
  // Not in `shared`: its address costs a call of swift_once(), and paths of an item read these.
  /// 0: closed. 1: refused. Otherwise the address of the board.
  private static let memory = Atomic<UInt>(0)
  private static let generationWord = Atomic<UInt32>(1)
  /// The last turn of a queue's record. One count for all of them, because the records change hands
  /// without a lock.
  let queueTurns = Atomic<UInt64>(0)
  let eventChunks = EventChunkPool()
  /// Wakes what watches this process from inside.
  package let watch = BoardWatch()
  /// The number of the first queue record that was never used. Grows, under the lock.
  private let queuesUsed = Atomic<UInt32>(0)
  private let lock = Lock()
  private var freeWriter: UnsafeMutablePointer<BoardWriter>?
  private var writersMade = 0
  private var limits = (width: 0, maxThreads: 0)
  private var isForkParticipant = false
  /// Returns which code of the client a node runs, by the node's address, and writes what its block
  /// has captured: see ClientCode. A C function, because to call a closure counts references.
  typealias CodeReader =
    @convention(c) (UnsafeMutableRawPointer, UnsafeMutablePointer<UInt>)
    -> UInt
  // SAFETY: set with the engine's runtime, before there are items.
  private(set) nonisolated(unsafe) static var codeReader: CodeReader = { _, _ in 0 }
  /// The function that calls a C block, which it gets as its context; 0: there are no blocks.
  // SAFETY: set while the process has one thread.
  private(set) nonisolated(unsafe) static var blockCaller: UInt = 0

  /// The number of this process's current board.
  @inline(__always)
  static var generation: UInt32 { generationWord.load(ordering: .relaxed) }

  /// The start of the board; `nil` if there is none.
  @inline(__always)
  static var start: UnsafeMutableRawPointer? {
    // acquiring: pairs with the releasing store in open().
    let address = memory.load(ordering: .acquiring)
    return address > refused ? UnsafeMutableRawPointer(bitPattern: address) : nil
  }

  /// Whether there is a board. relaxed: a guess; a thread that sees a board sooner or later than
  /// another notes less or more.
  @inline(__always)
  static var mayHaveBoard: Bool { memory.load(ordering: .relaxed) > refused }

  /// Makes the board, unless it was made or refused before. Any thread that holds no lock.
  @inline(__always)
  static func open() {
    #if !GRANDCENTRAL_MODEL
      // relaxed: a guess that the lock confirms.
      if memory.load(ordering: .relaxed) == 0 { shared.make() }
    #endif
  }

  /// Sets the limits that the header shows. Call before the first thread.
  static func setLimits(width: Int, maxThreads: Int) {
    shared.limits = (width, maxThreads)
  }

  /// Sets how a recording finds the client's code in a node.
  static func setCodeReader(_ reader: @escaping CodeReader) { codeReader = reader }

  /// Sets the function that calls blocks. Call while the process has one thread.
  package static func setBlockCaller(_ function: UInt) { blockCaller = function }

  /// Registers the board for forks, once. A program that only waits for a semaphore has a board
  /// and no engine otherwise, so the one that comes first registers it.
  static func joinForksOnce() { shared.lock.withLock { shared.registerForForks() } }

  private func registerForForks() {
    if isForkParticipant { return }
    isForkParticipant = true
    joinForks()
    ForkGate.install()
    // The runtime sets another, which does this too.
    ThreadRegistry.setFirstExitHandler { BlackBox.noteEnd(of: $0) }
  }

  /// Makes the board, and what watches it: see BoardWatch for why no fork may happen meanwhile.
  @inline(never)
  private func make() {
    ForkGate.inside(currentThread()) {
      makeMemory()
      #if !GRANDCENTRAL_MODEL
        gc_board_made()
      #endif
    }
  }

  private func makeMemory() {
    lock.withLock {
      guard Self.memory.load(ordering: .relaxed) == 0 else { return }
      registerForForks()
      let made = Self.map()
      if let made { writeHeader(made) }
      // releasing: publishes the finished header to open() and start.
      Self.memory.store(
        UInt(bitPattern: made) | (made == nil ? Self.refused : 0), ordering: .releasing)
    }
  }

  private static func map() -> UnsafeMutableRawPointer? {
    let bytes = BoardLayout.bytes
    guard let folder = Process.environment("GRANDCENTRAL_BLACKBOX"), !folder.isEmpty else {
      return gc_board_map(nil, bytes)
    }
    if let made = gc_board_map(folder, bytes) { return made }
    let reason =
      switch errno {
      case EPERM: "it must belong to this user, with mode 0700, and the program must not be setuid"
      case EMEDIUMTYPE: "it is not on tmpfs. Use a folder in /dev/shm or $XDG_RUNTIME_DIR"
      default: "errno \(errno)"
      }
    report(
      .settingIgnored,
      "GRAND CENTRAL: GRANDCENTRAL_BLACKBOX='\(folder)' is ignored: \(reason).")
    return gc_board_map(nil, bytes)
  }

  private func writeHeader(_ start: UnsafeMutableRawPointer) {
    let words = Self.words(at: start)
    func set(_ index: Int, _ value: UInt64) { words[index].store(value, ordering: .relaxed) }
    set(BoardLayout.Header.version, BoardLayout.version)
    set(BoardLayout.Header.recordBytes, UInt64(BoardLayout.recordBytes))
    set(BoardLayout.Header.threadCapacity, UInt64(BoardLayout.threadCapacity))
    set(BoardLayout.Header.queueCapacity, UInt64(BoardLayout.queueCapacity))
    set(BoardLayout.Header.process, UInt64(Process.identifier))
    set(BoardLayout.Header.made, Clock.monotonicNanoseconds())
    set(BoardLayout.Header.madeWall, Clock.wallNanoseconds())
    set(BoardLayout.Header.width, UInt64(limits.width))
    set(BoardLayout.Header.maxThreads, UInt64(limits.maxThreads))
    let name = Self.nameWords(ofProgram: true)
    set(BoardLayout.Header.name, name.0)
    set(BoardLayout.Header.name + 1, name.1)
    var release: (UInt64, UInt64) = (0, 0)
    withUnsafeMutableBytes(of: &release) {
      $0.copyBytes(from: EngineVersion.text.utf8.prefix(15))
    }
    set(BoardLayout.Header.release, release.0)
    set(BoardLayout.Header.release + 1, release.1)
    set(EventLayout.lease, UInt64.max)
    set(EventLayout.control, Self.controlFromEnvironment())
    // releasing: a reader that sees the mark sees the header.
    words[BoardLayout.Header.magic].store(BoardLayout.magic, ordering: .releasing)
  }

  // SAFETY: the board has BoardLayout.bytes bytes, aligned to a page, and is never unmapped in the
  // process that made it. An atomic of 64 bits is laid out as a plain one.

  static func words(at start: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Atomic<UInt64>> {
    start.assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  static func record(at offset: Int, in start: UnsafeMutableRawPointer) -> BoardRecord {
    BoardRecord(words: words(at: start + offset))
  }

  /// The record of a queue; `nil` if there is no board.
  static func queueRecord(_ place: UInt32) -> BoardRecord? {
    guard place != 0, place < BoardLayout.queueCapacity, let start else { return nil }
    return record(at: BoardLayout.queuesOffset + Int(place) * BoardLayout.recordBytes, in: start)
  }

  /// Notes that a queue's record is in use, for readers that need not look further.
  func noteUsed(_ place: UInt32) {
    // relaxed: a guess that the lock confirms.
    if place >= queuesUsed.load(ordering: .relaxed) { extendUse(to: place) }
  }

  @inline(never)
  private func extendUse(to place: UInt32) {
    guard let start = Self.start, place < BoardLayout.queueCapacity else { return }
    lock.withLock {
      guard place >= queuesUsed.load(ordering: .relaxed) else { return }
      // In steps, so that few queues take the lock.
      let used = (place / 64 + 1) * 64
      queuesUsed.store(used, ordering: .relaxed)
      Self.words(at: start)[BoardLayout.Header.queuesUsed]
        .store(UInt64(used), ordering: .relaxed)
    }
  }

  /// Reads words of this process's own board, one after the other. Returns how many: fewer than
  /// there is room for at its end. Any thread.
  package static func readWords(
    at offset: Int, into buffer: UnsafeMutableBufferPointer<UInt64>
  ) -> Int {
    guard let start, offset >= 0, offset < BoardLayout.bytes else { return 0 }
    let words = words(at: start + offset)
    let count = min(buffer.count, (BoardLayout.bytes - offset) / 8)
    for index in 0..<count {
      // acquiring: the order that the protocols of records and chunks ask of a reader.
      buffer.initializeElement(at: index, to: words[index].load(ordering: .acquiring))
    }
    return count
  }

  /// The calling thread's name, or the program's.
  static func nameWords(ofProgram: Bool = false) -> (UInt64, UInt64) {
    var words: (UInt64, UInt64) = (0, 0)
    withUnsafeMutableBytes(of: &words) {
      gc_board_name($0.assumingMemoryBound(to: CChar.self).baseAddress.unsafelyUnwrapped, ofProgram)
    }
    return words
  }

  // MARK: Slots of threads

  /// Takes a slot for a thread; `nil` if there is no board, or no slot left.
  func takeWriter() -> UnsafeMutablePointer<BoardWriter>? {
    guard let start = Self.start else { return nil }
    return lock.withLock {
      if let free = freeWriter {
        freeWriter = free.pointee.nextFree
        return free
      }
      guard writersMade < BoardLayout.threadCapacity else { return nil }
      let slot = writersMade
      writersMade += 1
      let offset = BoardLayout.threadsOffset + slot * BoardLayout.recordBytes
      let made = UnsafeMutablePointer<BoardWriter>.allocate(capacity: 1)
      made.initialize(to: BoardWriter(record: Self.record(at: offset, in: start), slot: slot))
      Self.words(at: start)[BoardLayout.Header.threadsUsed]
        .store(UInt64(writersMade), ordering: .relaxed)
      return made
    }
  }

  func give(_ writer: UnsafeMutablePointer<BoardWriter>) {
    lock.withLock {
      writer.pointee.nextFree = freeWriter
      freeWriter = writer
    }
  }
}

extension BlackBox: ForkParticipant {
  /// The child has no board until it needs one. The parent's writers are leaked: they are small,
  /// and a thread of the parent may have been inside one.
  package func afterFork() {
    forgetBoard()
    #if !GRANDCENTRAL_MODEL
      gc_board_leave_to_parent()
    #endif
  }

  /// The steps of afterFork() that use types, on the process's own words: there is no board before
  /// the registration, so there is nothing to forget.
  package func rehearseFork() { forgetBoard() }

  private func forgetBoard() {
    let thread = currentThread()
    thread.pointee.board = nil
    gc_items_hide(thread)
    thread.pointee.events = nil
    eventChunks.forget()
    freeWriter = nil
    writersMade = 0
    queuesUsed.store(0, ordering: .relaxed)
    watch.noteThreadEnd()
    Self.generationWord.wrappingAdd(1, ordering: .relaxed)
    Self.memory.store(0, ordering: .relaxed)
  }
}
