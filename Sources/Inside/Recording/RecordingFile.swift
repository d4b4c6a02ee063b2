// The file of a recording: eight bytes of mark, of which the last is "0" plus the number of the
// format, so ":" is format 10; then blocks of type, length, contents. A block depends on no other,
// so a file that is cut off keeps all but its last block. The number changes when an older release
// would misread what is new; it would skip a block of a new type, and numbers behind those that it
// knows.
//   1        items, waits, queues
//   2        stacks and origins, too
//   3        a code with the detail `capturedCode` belongs to the code before it
//
//   clock    ticks, nanoseconds of CLOCK_MONOTONIC
//   process  id, name, one item in how many is recorded, width, greatest number of threads
//   queue    place, kind, label; as on the board when the recording began or ended
//   thread   id, name
//   events   thread, first ticks; then for each event a byte (kind, detail, whether the queue is
//            that of the event before), the ticks since the event before, and what the kind has.
//            A stack has its id, and the frames' addresses as differences; an origin has the number
//            of a stack of the block, or 0 and the id
//   lost     words
//   map      first and last address, offset in the file, path: code of the process
import GrandCentralCore

package enum RecordingFile {
  /// The format of the files that this release writes. It reads these and all older ones.
  package static let format = 3
  private static let name = Array("GCRECRD".utf8)
  package static let mark = name + [UInt8(ascii: "0") + UInt8(format)]

  /// The format of a file; `nil`: it is no recording.
  static func format(of bytes: [UInt8]) -> Int? {
    guard bytes.starts(with: name), bytes.count >= mark.count else { return nil }
    // Any byte from "1" on is a number, so a newer file is not mistaken for another kind of file.
    let number = Int(bytes[name.count]) - Int(UInt8(ascii: "0"))
    return number > 0 ? number : nil
  }

  enum Block: UInt8 {
    case clock = 1
    case process = 2
    case queue = 3
    case thread = 4
    case events = 5
    case lost = 6
    case map = 7
  }

  static func block(_ type: Block, _ body: (inout ByteWriter) -> Void) -> [UInt8] {
    var content = ByteWriter()
    body(&content)
    var whole = ByteWriter()
    whole.bytes.append(type.rawValue)
    whole.put(content.bytes)
    return whole.bytes
  }

  static var samePlace: UInt8 { 0x80 }

  /// Packs the events of a batch.
  package static func pack(_ batch: EventBatch) -> [UInt8] {
    block(.events) { out in
      out.put(UInt64(batch.thread))
      out.put(batch.base)
      var last = (ticks: batch.base, place: UInt64(0), address: UInt64(0))
      var lastCode: UInt64 = 0
      var stacks: [UInt64: UInt64] = [:]
      for event in RawEvent.all(in: batch) {
        let hasPlace = event.kind.hasPlace
        let isSame = hasPlace && event.place == last.place
        out.bytes.append(
          event.kind.rawValue | event.detail << 4 | (isSame ? samePlace : 0))
        out.put(signed: Int64(bitPattern: event.ticks &- last.ticks))
        last.ticks = event.ticks
        if event.kind == .thread { out.put(event.text) }
        putStack(event, &stacks, &out)
        guard hasPlace else { continue }
        if !isSame { out.put(event.place) }
        last.place = event.place
        switch event.kind {
        case .queue:
          out.put(event.address >> 8)
          out.put(event.text)
        case .held: break
        case .timer: out.put(event.address)
        case .code:
          out.put(signed: Int64(bitPattern: event.address &- lastCode))
          lastCode = event.address
        default:
          // Nodes have 64 bytes; objects are aligned to 16.
          let shift: UInt64 = event.kind == .wait ? 0 : 6
          let address = event.address >> shift
          out.put(signed: Int64(bitPattern: address &- last.address >> shift))
          last.address = event.address
        }
      }
    }
  }
}

extension RecordingFile {
  /// The stacks of a block are numbered from 1 on.
  private static func putStack(
    _ event: RawEvent, _ stacks: inout [UInt64: UInt64], _ out: inout ByteWriter
  ) {
    guard event.kind == .stack || event.kind == .origin else { return }
    if event.kind == .origin {
      out.put(stacks[event.address] ?? 0)
      if stacks[event.address] != nil { return }
    }
    stacks[event.address] = UInt64(stacks.count + 1)
    out.put(event.address)
    if event.kind == .origin { return }
    out.put(UInt64(event.frames.count))
    var last: UInt64 = 0
    for frame in event.frames {
      out.put(signed: Int64(bitPattern: frame &- last))
      last = frame
    }
  }
}

extension EventKind {
  /// Whether the event names a queue.
  var hasPlace: Bool { words == 2 && self != .stack && self != .origin }
}

/// An event as the board has it.
struct RawEvent {
  var kind: EventKind
  var detail: UInt8
  var ticks: UInt64
  var place: UInt64 = 0
  var address: UInt64 = 0
  var text = ""
  var frames: [UInt64] = []

  /// The events of a batch; ends at the first that makes no sense.
  static func all(in batch: EventBatch) -> [RawEvent] {
    var events: [RawEvent] = []
    events.reserveCapacity(batch.words.count / 2)
    let words = batch.words
    var index = 0
    while index < words.count {
      let head = words[index]
      guard let kind = EventKind(rawValue: UInt8(head & 15)), index + kind.words <= words.count
      else { break }
      // A thread may read the time of its first event before it takes the chunk.
      let unused = 64 - EventLayout.tickBits
      let passed = Int64(bitPattern: (head >> 8 &- batch.base) << unused) >> Int64(unused)
      let ticks = batch.base &+ UInt64(bitPattern: passed)
      var event = RawEvent(kind: kind, detail: UInt8(head >> 4 & 7), ticks: ticks)
      if kind.words == 2 {
        event.place = words[index + 1] >> 48
        event.address = words[index + 1] & EventLayout.addressMask
      }
      if kind == .thread { event.text = Snapshot.text(words.span, at: index + 1, bytes: 15) }
      index += kind.words
      if kind == .queue {
        let bytes = min(Int(event.address & 0xff), BoardLayout.Queue.maxLabelBytes)
        guard index + (bytes + 7) / 8 <= words.count else { break }
        event.text = Snapshot.text(words.span, at: index, bytes: bytes)
        index += (bytes + 7) / 8
      }
      if kind == .stack {
        let count = min(Int(event.place), EventLayout.maxFrames)
        guard index + count <= words.count else { break }
        event.frames = Array(words[index..<index + count])
        index += count
      }
      events.append(event)
    }
    return events
  }
}
