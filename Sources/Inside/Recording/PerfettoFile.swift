// A recording as a trace for ui.perfetto.dev: protocol buffers, written by hand.
// Each thread is a track; an item is a slice, named after its queue, with a flow from the place
// of its submission; a wait is a slice of its own. Fields and numbers are those of Perfetto's
// protos/perfetto/trace.
// A sequence of packets for each thread: the track is a default of the sequence, names are interned
// in it, and times are differences to the packet before (incremental clock 64).
// The arrows of flows follow the times, so a submission is never shown after its start.
import GrandCentralCore

package struct PerfettoFile {
  private enum Packet {
    static let clockSnapshot: UInt64 = 6
    static let timestamp: UInt64 = 8
    static let sequence: UInt64 = 10
    static let trackEvent: UInt64 = 11
    static let internedData: UInt64 = 12
    static let sequenceFlags: UInt64 = 13
    static let defaults: UInt64 = 59
    static let trackDescriptor: UInt64 = 60
  }
  private enum TrackEvent {
    static let type: UInt64 = 9
    static let nameIndex: UInt64 = 10
    static let flow: UInt64 = 47
    static let endedFlow: UInt64 = 48
  }
  private static let sliceBegin: UInt64 = 1
  private static let sliceEnd: UInt64 = 2
  private static let instant: UInt64 = 3
  /// CLOCK_MONOTONIC among Perfetto's clocks, and the first that a sequence may define.
  private static let monotonic: UInt64 = 3
  private static let incremental: UInt64 = 64

  /// A point of a thread's track.
  private struct Point {
    var time: UInt64
    /// Orders points of the same time: an end before a begin.
    var order: Int
    var type: UInt64
    var name: UInt64 = 0
    var flow: UInt64 = 0
  }

  package private(set) var bytes: [UInt8] = []
  private let recording: Recording

  package init(_ recording: Recording) {
    self.recording = recording
    describeProcess()
    let tracks = Self.points(recording)
    for (index, thread) in tracks.keys.sorted().enumerated() {
      write(tracks[thread] ?? [], of: thread, sequence: UInt64(index + 2))
    }
  }

  // MARK: Points

  private static func points(_ recording: Recording) -> [UInt32: [Point]] {
    var tracks: [UInt32: [Point]] = [:]
    let submit = UInt64(recording.queues.count + 1)
    var order = 0
    func add(_ thread: UInt32, _ time: UInt64, _ type: UInt64, _ name: UInt64, flow: UInt64 = 0) {
      order += 1
      tracks[thread, default: []]
        .append(Point(time: time, order: order, type: type, name: name, flow: flow))
    }
    // The items are in the order of their starts: so are the begins of nested slices, and their
    // ends are sorted in reverse.
    for (index, item) in recording.items.enumerated() {
      let flow = item.submitted == nil ? 0 : UInt64(index + 1)
      if let submitted = item.submitted {
        add(submitted.thread, min(submitted.time, item.start), instant, submit, flow: flow)
      }
      add(item.thread, item.start, sliceBegin, UInt64(item.queue + 1), flow: flow)
      add(item.thread, max(item.start, item.end ?? recording.end), sliceEnd, 0)
    }
    for wait in recording.waits {
      add(wait.thread, wait.start, sliceBegin, submit + 1 + UInt64(wait.kind.rawValue))
      add(wait.thread, max(wait.start, wait.end ?? recording.end), sliceEnd, 0)
    }
    return tracks.mapValues { $0.sorted { ($0.time, $0.order) < ($1.time, $1.order) } }
  }

  private func name(_ index: UInt64) -> String {
    let position = Int(index) - 1
    if position < recording.queues.count { return recording.queues[position].label }
    if position == recording.queues.count { return "submit" }
    let kind = BoardWaitKind(rawValue: UInt8(position - recording.queues.count - 1)) ?? .none
    return "wait: \(kind)"
  }

  // MARK: Packets

  private mutating func packet(_ body: (inout ProtoWriter) -> Void) {
    var file = ProtoWriter()
    file.message(1, body)
    bytes += file.bytes
  }

  private mutating func describeProcess() {
    let recording = recording
    packet { packet in
      packet.message(Packet.trackDescriptor) { track in
        track.number(1, 1)
        track.message(3) { process in
          process.number(1, UInt64(recording.process))
          process.text(6, recording.name)
        }
      }
    }
  }

  private mutating func write(_ points: [Point], of thread: UInt32, sequence: UInt64) {
    let first = points.first?.time ?? 0
    describe(thread, sequence: sequence, first: first)
    var known = Set<UInt64>()
    var last = first
    for point in points {
      let isNew = point.name != 0 && known.insert(point.name).inserted
      let label = isNew ? name(point.name) : ""
      let passed = point.time - last
      last = point.time
      packet { packet in
        packet.number(Packet.timestamp, passed)
        packet.number(Packet.sequence, sequence)
        if isNew {
          packet.message(Packet.internedData) { data in
            data.message(2) { entry in
              entry.number(1, point.name)
              entry.text(2, label)
            }
          }
        }
        packet.number(Packet.sequenceFlags, 2)
        packet.message(Packet.trackEvent) { event in
          event.number(TrackEvent.type, point.type)
          if point.name != 0 { event.number(TrackEvent.nameIndex, point.name) }
          if point.flow != 0 {
            event.fixed(
              point.type == Self.sliceBegin ? TrackEvent.endedFlow : TrackEvent.flow, point.flow)
          }
        }
      }
    }
  }

  /// Describes a thread's track, and sets the defaults of its sequence.
  private mutating func describe(_ thread: UInt32, sequence: UInt64, first: UInt64) {
    let process = UInt64(recording.process)
    let name = recording.threads[thread] ?? ""
    let track = UInt64(thread) << 8 | 2
    packet { packet in
      packet.number(Packet.sequence, sequence)
      packet.message(Packet.clockSnapshot) { snapshot in
        for clock in [Self.monotonic, Self.incremental] {
          snapshot.message(1) { entry in
            entry.number(1, clock)
            entry.number(2, first)
            if clock == Self.incremental { entry.number(3, 1) }
          }
        }
        snapshot.number(2, Self.monotonic)
      }
    }
    packet { packet in
      packet.number(Packet.sequence, sequence)
      // The state of the sequence begins here.
      packet.number(Packet.sequenceFlags, 1)
      packet.message(Packet.defaults) { defaults in
        defaults.number(58, Self.incremental)
        defaults.message(11) { $0.number(11, track) }
      }
      packet.message(Packet.trackDescriptor) { descriptor in
        descriptor.number(1, track)
        descriptor.number(5, 1)
        descriptor.message(4) { entry in
          entry.number(1, process)
          entry.number(2, UInt64(thread))
          entry.text(5, name)
        }
      }
    }
  }
}

/// Fields of protocol buffers.
struct ProtoWriter {
  private var out = ByteWriter()
  var bytes: [UInt8] { out.bytes }

  mutating func number(_ field: UInt64, _ value: UInt64) {
    out.put(field << 3)
    out.put(value)
  }

  mutating func fixed(_ field: UInt64, _ value: UInt64) {
    out.put(field << 3 | 1)
    withUnsafeBytes(of: value.littleEndian) { out.bytes += $0 }
  }

  mutating func text(_ field: UInt64, _ text: String) {
    out.put(field << 3 | 2)
    out.put(text)
  }

  mutating func message(_ field: UInt64, _ body: (inout ProtoWriter) -> Void) {
    var part = ProtoWriter()
    body(&part)
    out.put(field << 3 | 2)
    out.put(part.bytes)
  }
}
