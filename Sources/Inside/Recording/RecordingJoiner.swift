// Joins the events of a recording to items and waits: submissions and starts by the address of the
// node, starts and ends by their thread.
import GrandCentralCore

struct RecordingJoiner {
  var recording: Recording
  private var submitted: [UInt64: Recording.Event] = [:]
  /// What is known of a thread at the time of the events so far.
  private struct Thread {
    var running: [Int] = []
    var waiting: Int?
    var held: [Int] = []
    var function: Int?
    /// The stack from which the thread submits, as an index into `Recording.origins`.
    var origin: Int?
  }
  private var threads: [UInt32: Thread] = [:]
  private var functionOf: [RecordedFunction: Int] = [:]
  private var originOf: [UInt64: Int] = [:]

  init(_ recording: Recording) { self.recording = recording }

  mutating func join(_ blocks: inout RecordingBlocks) {
    // By time; a thread's own events keep their order. A start that shows the same tick as its
    // submission comes after it.
    let events = blocks.events
    let order = events.indices.sorted { left, right in
      let (one, other) = (events[left], events[right])
      if one.ticks != other.ticks { return one.ticks < other.ticks }
      return one.thread == other.thread ? left < right : one.kind.rawValue < other.kind.rawValue
    }
    recording.items.reserveCapacity(events.count / 3)
    var names = PlaceNames(blocks.places)
    for index in order { add(events[index], blocks, &names) }
    recording.unstarted += submitted.count
    recording.start = order.first.map { blocks.time(events[$0].ticks) } ?? 0
    recording.end = order.last.map { blocks.time(events[$0].ticks) } ?? 0
    for thread in threads.values {
      if let wait = thread.waiting { recording.waits[wait].end = recording.end }
    }
  }

  private mutating func add(
    _ event: Recording.Event, _ blocks: RecordingBlocks, _ names: inout PlaceNames
  ) {
    let time = blocks.time(event.ticks)
    switch event.kind {
    case .submit:
      var event = event
      event.origin = threads[event.thread]?.origin
      if submitted.updateValue(event, forKey: event.address) != nil { recording.unstarted += 1 }
    case .start, .sourceStart:
      let origin = submitted.removeValue(forKey: event.address)
      let place = event.place != 0 ? event.place : origin?.place ?? 0
      var item = RecordedItem(
        queue: names.queue(at: place, band: event.detail, in: &recording.queues),
        submitted: origin.map { (blocks.time($0.ticks), $0.thread) }, start: time,
        thread: event.thread, function: threads[event.thread]?.function)
      item.band = event.detail
      item.origin = origin?.origin
      item.isSourceEvent = event.kind == .sourceStart
      if item.isSourceEvent { item.function = nil }
      recording.items.append(item)
      threads[event.thread, default: Thread()].running.append(recording.items.count - 1)
    case .end:
      if let item = threads[event.thread]?.running.popLast() { recording.items[item].end = time }
    case .wait: addWait(event, time, &names)
    case .waitEnd:
      if let wait = threads[event.thread]?.waiting {
        recording.waits[wait].end = time
        threads[event.thread]?.waiting = nil
      }
    case .held:
      let queue = names.queue(at: event.place, band: 0, in: &recording.queues)
      threads[event.thread, default: Thread()].held.append(queue)
    case .timer:
      if let item = threads[event.thread]?.running.last {
        recording.items[item].timerLate = event.address
      }
    case .code where event.detail == EventLayout.capturedCode:
      guard let outer = threads[event.thread]?.function else { break }
      let behind = function(recording.functions[outer].address, captured: event.address)
      threads[event.thread]?.function = behind
    case .code: threads[event.thread, default: Thread()].function = function(event.address)
    case .queue: names.name(event.place, event.queue)
    case .stack, .origin:
      threads[event.thread, default: Thread()].origin = origin(event.address, blocks)
    case .thread: break
    }
  }

  /// The index of a stack; `nil`: its frames are not known.
  private mutating func origin(_ id: UInt64, _ blocks: RecordingBlocks) -> Int? {
    if let known = originOf[id] { return known }
    guard let frames = blocks.stacks[id], !frames.isEmpty else { return nil }
    recording.origins.append(RecordedOrigin(addresses: frames))
    originOf[id] = recording.origins.count - 1
    return recording.origins.count - 1
  }

  private mutating func addWait(
    _ event: Recording.Event, _ time: UInt64, _ names: inout PlaceNames
  ) {
    let queue =
      event.place == 0
      ? nil : names.queue(at: event.place, band: 0, in: &recording.queues)
    var wait = RecordedWait(
      kind: BoardWaitKind(rawValue: event.detail) ?? .none, thread: event.thread, queue: queue,
      start: time)
    var thread = threads[event.thread] ?? Thread()
    wait.held = thread.held
    wait.item = thread.running.last
    thread.held = []
    thread.waiting = recording.waits.count
    threads[event.thread] = thread
    recording.waits.append(wait)
  }

  /// The index of a function; `nil` for address 0: not known.
  private mutating func function(_ address: UInt64, captured: UInt64 = 0) -> Int? {
    if address == 0 { return nil }
    let function = RecordedFunction(address: address, captured: captured)
    if let known = functionOf[function] { return known }
    recording.functions.append(function)
    functionOf[function] = recording.functions.count - 1
    return recording.functions.count - 1
  }
}

/// Which queue has a place, as time goes by.
private struct PlaceNames {
  private var now: [UInt32: Int]
  private var bands: [UInt8: Int] = [:]

  init(_ places: [UInt32: Int]) { now = places }

  mutating func name(_ place: UInt32, _ queue: Int) { now[place] = queue }

  /// The index of the queue. Without a record, the item is one of a global queue of its class.
  mutating func queue(at place: UInt32, band: UInt8, in queues: inout [RecordedQueue]) -> Int {
    if let known = now[place] { return known }
    if place == 0, let known = bands[band] { return known }
    let label = place == 0 ? FindingWords.globalQueue(band: band) : "(queue \(place))"
    queues.append(RecordedQueue(label: label, kind: place == 0 ? .global : .unknown))
    if place == 0 { bands[band] = queues.count - 1 } else { now[place] = queues.count - 1 }
    return queues.count - 1
  }
}
