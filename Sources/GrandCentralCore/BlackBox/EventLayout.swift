// Room: BlackBox/EventLayout. Where the events of a recording lie on the board, and how an event is
// packed. The reader in GrandCentralInside compiles against these numbers.
//   header     words 64 to 66: what is recorded, until when, and the number of recordings; other
//              processes write these
//   directory  behind the records of queues: a header of 8 words for each chunk
//   chunks     2,048 words each. A chunk has the events of one thread at a time
// An event is one or more words:
//   submit, start   head, item; also the start of an event of a source
//   end, wait end   head
//   wait            head, object
//   queue           head, item (place in the upper 16 bits; kind, length of the label), label
//   thread          head, two words of name
//   code            head, code: of the thread's starts from here on. With the detail
//                   `capturedCode`: what the block of the code before has captured first
//   held            head, place alone: a queue that the thread is in when it waits; before wait
//   timer           head, item: the nanoseconds by which it is late, in place of the address
//   stack           head, item (number of frames as the place, id as the address), and the frames'
//                   return addresses, innermost first: the thread submits from here, from now on
//   origin          head, item (id as the address): the same for a stack that the chunk has already
//   head   63…8 ticks │ 6…4 band, or the kind of wait │ 3…0 kind
//   item   63…48 place of the queue │ 47…0 address of the node or object
// The address of the node joins the submission of an item and its start: from one to the other, no
// other item has the node.
import CGrandCentralLinux

package enum EventLayout {
  /// The word of the board's header that says what is recorded: the level in the lowest byte if
  /// each item is recorded, otherwise `samples` or nothing; `countsTicks`; and the number of the
  /// recording.
  package static var control: Int { Int(GC_EVENT_CONTROL) }
  /// The time in ticks from which on nothing is recorded. A recorder that is killed cannot clear
  /// the control word.
  package static var lease: Int { Int(GC_EVENT_LEASE) }
  /// The number of recordings that there have been.
  package static var recordings: Int { 66 }
  package static var levelMask: UInt64 { UInt64(GC_EVENT_LEVEL) }
  /// One item in `sampleInterval` is recorded.
  package static var samples: UInt64 { UInt64(GC_EVENT_SAMPLES) }
  /// Ticks are those of the processor's counter; otherwise nanoseconds.
  package static var countsTicks: UInt64 { 0x100 }
  /// The number of the recording, from this bit on. Each recorder counts it up, so that threads
  /// name code and stacks again, which a new recorder has not read.
  package static var recordingShift: UInt64 { 16 }

  /// The control word of a level, without the number of a recording.
  package static func control(_ level: EventLevel, countsTicks: Bool) -> UInt64 {
    (level == .sampled ? samples : UInt64(level.rawValue)) | (countsTicks ? Self.countsTicks : 0)
  }

  /// The level of a control word; `nil`: it makes no sense.
  package static func level(of control: UInt64) -> EventLevel? {
    let level = UInt8(control & levelMask)
    if level == EventLevel.sampled.rawValue { return nil }
    return level == 0 && control & samples != 0 ? .sampled : EventLevel(rawValue: level)
  }

  package static var chunkCapacity: Int { 512 }
  package static var chunkWords: Int { scaled(2048, inModels: 2) }
  /// The words of a cache line.
  static var lineWords: Int { 8 }
  package static var headerBytes: Int { 64 }
  package static var directoryOffset: Int {
    BoardLayout.queuesOffset + BoardLayout.queueCapacity * BoardLayout.recordBytes
  }
  package static var chunksOffset: Int { directoryOffset + chunkCapacity * headerBytes }
  package static var chunkBytes: Int { chunkWords * 8 }
  package static var chunkArea: Int { chunkCapacity * chunkBytes }

  /// The words of a chunk's header.
  package enum Chunk {
    /// Odd while the chunk changes hands: see EventChunk.
    package static var turn: Int { 0 }
    /// The number of words with events.
    package static var used: Int { 1 }
    /// The id of the thread that writes the chunk.
    package static var owner: Int { 2 }
    /// The time when the thread took the chunk, in ticks: the events have 56 bits of theirs.
    package static var base: Int { 3 }
    /// The number of words that the previous owner left, for a reader that missed some of them.
    package static var previous: Int { 4 }
  }

  package static var capturedCode: UInt8 { 1 }
  package static var tickBits: UInt64 { 56 }
  package static var addressMask: UInt64 { (1 << 48) - 1 }
  /// The most frames of a stack.
  package static var maxFrames: Int { 16 }
  /// One item in this number is recorded at the level `sampled`.
  package static var sampleInterval: UInt32 { UInt32(GC_SAMPLE_INTERVAL) }

  package static func head(_ kind: EventKind, detail: UInt8 = 0, ticks: UInt64) -> UInt64 {
    ticks << 8 | UInt64(detail & 7) << 4 | UInt64(kind.rawValue)
  }

  package static func item(_ address: UInt64, place: UInt32) -> UInt64 {
    address & addressMask | UInt64(place) << 48
  }
}

/// What an event says.
package enum EventKind: UInt8, Sendable {
  case submit = 1
  case start = 2
  case end = 3
  case wait = 4
  case waitEnd = 5
  /// A queue got its place.
  case queue = 6
  /// The thread that writes the chunk.
  case thread = 7
  /// The stack from which the thread submits its next items.
  case stack = 8
  /// The same, for a stack that the chunk has already.
  case origin = 9
  /// An event of a source starts: its handler.
  case sourceStart = 12
  /// A queue that a thread is in when it begins to wait.
  case held = 13
  /// The handler of a timer begins.
  case timer = 14
  /// The code that the next items of the thread run.
  case code = 15

  /// The number of words, without those of a label or of frames.
  package var words: Int {
    switch self {
    case .end, .waitEnd: 1
    case .submit, .start, .sourceStart, .wait, .queue, .held, .timer, .code, .stack, .origin: 2
    case .thread: 3
    }
  }
}

/// How much is recorded.
package enum EventLevel: UInt8, Sendable {
  /// No events; the board alone.
  case board = 0
  /// One item in `sampleInterval`.
  case sampled = 2
  /// Every item and every wait.
  case items = 3
  /// The same, and the stack from which each item is submitted.
  case origins = 4
}
