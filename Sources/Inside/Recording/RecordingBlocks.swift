// The blocks of a recording's file, as they are read. Every byte may be wrong: a block is read up
// to the first byte that makes no sense.
import Glibc
import GrandCentralCore

struct RecordingBlocks {
  var process = 0
  var name = "?"
  var interval = 1
  /// 0: not known.
  var width = 0
  var maps: [CodeMap] = []
  var threads: [UInt32: String] = [:]
  var queues: [RecordedQueue] = []
  /// The queues that had a place when the recording began or ended.
  var places: [UInt32: Int] = [:]
  var events: [Recording.Event] = []
  /// The frames of stacks, by the stacks' ids.
  var stacks: [UInt64: [UInt64]] = [:]
  var lostWords: UInt64 = 0
  private var clocks: [(ticks: UInt64, nanoseconds: UInt64)] = []

  /// The time of a tick: on the line through the first and the last reading of the clock.
  func time(_ ticks: UInt64) -> UInt64 {
    guard let first = clocks.first, let last = clocks.last else { return ticks }
    let rate =
      last.ticks > first.ticks
      ? Double(last.nanoseconds &- first.nanoseconds) / Double(last.ticks - first.ticks) : 1
    let passed = Double(Int64(bitPattern: ticks &- first.ticks)) * rate
    let time = Double(first.nanoseconds) + passed
    return time > 0 && time < 1e18 ? UInt64(time) : 0
  }

  mutating func read(_ bytes: ArraySlice<UInt8>) {
    var reader = ByteReader(bytes)
    while !reader.isAtEnd {
      guard let type = reader.byte(), let content = reader.part() else { return }
      var block = ByteReader(content)
      switch RecordingFile.Block(rawValue: type) {
      case .clock:
        if let ticks = block.number(), let now = block.number() { clocks.append((ticks, now)) }
      case .process:
        process = Int(truncatingIfNeeded: (block.number() ?? 0) & 0x3fff_ffff)
        name = block.text() ?? "?"
        interval = Int(min(max(1, block.number() ?? 1), 1024))
        width = Int(min(block.number() ?? 0, 1 << 16))
      case .queue: readQueue(&block)
      case .thread:
        if let id = block.number(), let name = block.text() {
          threads[UInt32(truncatingIfNeeded: id)] = name
        }
      case .events: readEvents(&block)
      case .lost: lostWords = block.number() ?? 0
      case .map: readMap(&block)
      case nil: break
      }
    }
  }

  private mutating func readQueue(_ block: inout ByteReader) {
    guard let place = block.number(), let kind = block.number(), let label = block.text()
    else { return }
    let key = UInt32(truncatingIfNeeded: place)
    // A place that has changed hands is named by an event.
    if places[key] == nil { places[key] = addQueue(kind, label) }
  }

  private mutating func readMap(_ block: inout ByteReader) {
    guard let first = block.number(), let last = block.number(), let offset = block.number(),
      let path = block.text(), first < last, maps.count < 10_000
    else { return }
    maps.append(CodeMap(first: first, last: last, offset: offset, path: path))
  }

  private mutating func addQueue(_ kind: UInt64, _ label: String) -> Int {
    let kinds: [QueueRecord.Kind] = [.serial, .concurrent, .global, .main]
    queues.append(
      RecordedQueue(label: label, kind: kind < 4 ? kinds[Int(kind)] : .unknown))
    return queues.count - 1
  }

  private mutating func readEvents(_ block: inout ByteReader) {
    guard let thread = block.number().map({ UInt32(truncatingIfNeeded: $0) }),
      var ticks = block.number()
    else { return }
    var last = (place: UInt64(0), address: UInt64(0))
    var lastCode: UInt64 = 0
    var stacks: [UInt64] = []
    while let first = block.byte() {
      guard let kind = EventKind(rawValue: first & 15), let passed = block.signed() else { return }
      ticks &+= UInt64(bitPattern: passed)
      var event = Recording.Event(
        ticks: ticks, thread: thread, kind: kind, detail: first >> 4 & 7, place: 0, address: 0,
        queue: 0)
      if kind == .thread {
        guard let name = block.text() else { return }
        if !name.isEmpty { threads[thread] = name }
        continue
      }
      if kind == .stack || kind == .origin {
        guard let id = readStack(kind, &block, &stacks) else { return }
        event.address = id
      }
      if kind.hasPlace {
        if first & RecordingFile.samePlace == 0 {
          guard let place = block.number() else { return }
          last.place = place
        }
        event.place = UInt32(truncatingIfNeeded: last.place)
        switch kind {
        case .queue:
          guard let type = block.number(), let label = block.text() else { return }
          event.queue = addQueue(type, label)
        case .held: break
        case .timer:
          guard let late = block.number() else { return }
          event.address = late
        case .code:
          guard let difference = block.signed() else { return }
          lastCode &+= UInt64(bitPattern: difference)
          event.address = lastCode
        default:
          guard let difference = block.signed() else { return }
          let shift: UInt64 = kind == .wait ? 0 : 6
          last.address =
            (last.address >> shift &+ UInt64(bitPattern: difference)) << shift
          event.address = last.address
        }
      }
      events.append(event)
    }
  }
}

extension RecordingBlocks {
  /// Reads a stack, or the number of one; returns its id.
  fileprivate mutating func readStack(
    _ kind: EventKind, _ block: inout ByteReader, _ stacks: inout [UInt64]
  ) -> UInt64? {
    if kind == .origin {
      guard let number = block.number() else { return nil }
      if number != 0 { return number <= UInt64(stacks.count) ? stacks[Int(number) - 1] : nil }
    }
    guard let id = block.number() else { return nil }
    stacks.append(id)
    if kind == .origin { return id }
    guard let count = block.number(), count <= UInt64(EventLayout.maxFrames) else { return nil }
    var frames: [UInt64] = []
    var last: UInt64 = 0
    for _ in 0..<count {
      guard let difference = block.signed() else { return nil }
      last &+= UInt64(bitPattern: difference)
      frames.append(last)
    }
    self.stacks[id] = frames
    return id
  }
}
