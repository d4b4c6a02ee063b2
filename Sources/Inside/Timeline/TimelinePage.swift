// A recording as one page of HTML, without a network or a library. The page's style and program lie
// in Sources/CTimelinePage, where they can be read; the compiler embeds them.
// The items are numbers of variable length (ByteWriter), in base64, in the order of their starts:
//   head       bits 3…0: flags below; then the thread's index
//   queue      if it is not that of the thread's item before
//   submitter  the thread's index, if it is not that of the queue's item before
//   code       the function's index + 1, if it is not that of the queue's item before
//   start      signed, since the end of the thread's item before
//   length     + 1; 0: the item has not ended
//   submission signed, since that of the queue's item before; not if it was not recorded
// Behind them are the waits: thread, kind, queue + 1, start, length. Times are nanoseconds since
// the recording's start. If the recording has origins, one number for each item follows: the
// origin's index + 1, or 0. data.js reads this.
import CGrandCentralTimelinePage
import GrandCentralCore

package struct TimelinePage {
  package private(set) var bytes: [UInt8] = []

  private enum Flag {
    static let noSubmission: UInt64 = 1
    static let otherQueue: UInt64 = 2
    static let otherSubmitter: UInt64 = 4
    static let otherCode: UInt64 = 8
  }

  private let recording: Recording
  private let threads: [UInt32]
  private let indexOfThread: [UInt32: Int]

  package init(_ report: Report) {
    recording = report.recording
    var seen = Set(recording.items.map(\.thread)).union(recording.waits.map(\.thread))
    seen.formUnion(recording.items.compactMap { $0.submitted?.thread })
    threads = seen.sorted()
    indexOfThread = Dictionary(
      uniqueKeysWithValues: threads.enumerated().map { ($1, $0) })
    let parts = [
      "STYLE": Self.contents(grandcentral_page_style()), "ABOUT": Array(about(report).utf8),
      "ITEMS": Self.base64(items()), "SCRIPT": Self.contents(grandcentral_page_script()),
    ]
    // The page has its parts' names in comments: /*NAME*/.
    let page = Self.contents(grandcentral_page_html())
    var rest = page[...]
    while let found = Self.mark(in: rest) {
      bytes += rest[..<found.lowerBound]
      bytes += parts[String(decoding: rest[found].dropFirst(2).dropLast(2), as: UTF8.self)] ?? []
      rest = rest[found.upperBound...]
    }
    bytes += rest
  }

  private static func contents(_ part: grandcentral_page_part_t) -> [UInt8] {
    Array(UnsafeBufferPointer(start: part.bytes, count: part.count))
  }

  private static func mark(in bytes: ArraySlice<UInt8>) -> Range<Int>? {
    let (slash, star) = (UInt8(ascii: "/"), UInt8(ascii: "*"))
    let pairs = zip(bytes.indices, bytes.indices.dropFirst())
    guard let begin = pairs.first(where: { bytes[$0] == slash && bytes[$1] == star })?.0,
      let end = pairs.first(where: { $0 > begin && bytes[$0] == star && bytes[$1] == slash })?.1
    else { return nil }
    return begin..<end + 1
  }

  // MARK: Numbers

  /// A damaged recording may have any times; the page shows those within its length.
  private func passed(_ time: UInt64) -> Int64 {
    time > recording.start
      ? Int64(min(time - recording.start, recording.end &- recording.start)) : 0
  }

  private func items() -> [UInt8] {
    var out = ByteWriter()
    out.bytes.reserveCapacity(recording.items.count * 12)
    var threadEnd = [Int64](repeating: 0, count: threads.count)
    var threadQueue = [Int](repeating: 0, count: threads.count)
    var last = [(submit: Int64, submitter: Int, code: Int)](
      repeating: (0, 0, 0), count: recording.queues.count)
    for item in recording.items {
      guard let thread = indexOfThread[item.thread] else { continue }
      let submitter = item.submitted.flatMap { indexOfThread[$0.thread] }
      // A function without a name says nothing.
      let named = item.function.flatMap { recording.functions[$0].text.isEmpty ? nil : $0 }
      let code = named.map { $0 + 1 } ?? 0
      var flags: UInt64 = 0
      if submitter == nil { flags |= Flag.noSubmission }
      if threadQueue[thread] != item.queue { flags |= Flag.otherQueue }
      if let submitter, submitter != last[item.queue].submitter { flags |= Flag.otherSubmitter }
      if code != last[item.queue].code { flags |= Flag.otherCode }
      out.put(flags | UInt64(thread) << 4)
      if flags & Flag.otherQueue != 0 { out.put(UInt64(item.queue)) }
      if flags & Flag.otherSubmitter != 0 { out.put(UInt64(submitter ?? 0)) }
      if flags & Flag.otherCode != 0 { out.put(UInt64(code)) }
      threadQueue[thread] = item.queue
      if let submitter { last[item.queue].submitter = submitter }
      last[item.queue].code = code
      let start = passed(item.start)
      let end = item.end.map { max(start, passed($0)) }
      out.put(signed: start - threadEnd[thread])
      out.put(end.map { UInt64($0 - start) + 1 } ?? 0)
      threadEnd[thread] = end ?? start
      if let submitted = item.submitted {
        let time = min(start, passed(submitted.time))
        out.put(signed: time - last[item.queue].submit)
        last[item.queue].submit = time
      }
    }
    for wait in recording.waits {
      let start = passed(wait.start)
      out.put(UInt64(indexOfThread[wait.thread] ?? 0))
      out.put(UInt64(wait.kind.rawValue))
      out.put(wait.queue.map { UInt64($0) + 1 } ?? 0)
      out.put(UInt64(start))
      out.put(UInt64(max(start, passed(wait.end ?? recording.end)) - start))
    }
    if !recording.origins.isEmpty {
      for item in recording.items { out.put(item.origin.map { UInt64($0) + 1 } ?? 0) }
    }
    return out.bytes
  }

  private static func base64(_ bytes: [UInt8]) -> [UInt8] {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var out: [UInt8] = []
    out.reserveCapacity((bytes.count + 2) / 3 * 4)
    for first in stride(from: 0, to: bytes.count, by: 3) {
      let count = min(3, bytes.count - first)
      var group = 0
      for index in 0..<3 { group = group << 8 | (index < count ? Int(bytes[first + index]) : 0) }
      for index in 0..<4 {
        out.append(index <= count ? letters[group >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
      }
    }
    return out
  }

  // MARK: Texts

  private func about(_ report: Report) -> String {
    var waited = [UInt64?](repeating: nil, count: recording.queues.count)
    for queue in report.queues { waited[queue.index] = QueueReport.percentile(queue.waits, 99) }
    let queues = recording.queues.enumerated().map { index, queue in
      "{\"label\":\(Self.quoted(queue.label)),\"kind\":\"\(queue.kind.rawValue)\""
        + (waited[index].map { ",\"waited\":\($0)" } ?? "") + "}"
    }
    let names = threads.map { thread in
      "{\"id\":\(thread),\"name\":\(Self.quoted(recording.threads[thread] ?? ""))}"
    }
    let kinds = BoardWaitKind.allCases.sorted { $0.rawValue < $1.rawValue }.map { Self.word($0) }
    let findings = report.findings.map { finding in
      "{\"headline\":\(Self.quoted(finding.headline)),\"details\":["
        + finding.details.map(Self.quoted).joined(separator: ",") + "]"
        + (finding.item.map { ",\"item\":\($0)" } ?? "") + "}"
    }
    let origins = recording.origins.map { origin in
      "[\(origin.frames.map(Self.quoted).joined(separator: ","))]"
    }
    return "{\"name\":\(Self.quoted(recording.name)),\"process\":\(recording.process),"
      + "\"length\":\(max(1, recording.end &- recording.start)),"
      + "\"interval\":\(recording.interval),\"lostBytes\":\(recording.lostWords &* 8),"
      + "\"items\":\(recording.items.count),\"waits\":\(recording.waits.count),"
      + "\"queues\":[\(queues.joined(separator: ","))],"
      + "\"threads\":[\(names.joined(separator: ","))],"
      + "\"codes\":[\(recording.functions.map { Self.quoted($0.text) }.joined(separator: ","))],"
      + "\"origins\":[\(origins.joined(separator: ","))],"
      + "\"waitKinds\":[\(kinds.map(Self.quoted).joined(separator: ","))],"
      + "\"findings\":[\(findings.joined(separator: ","))]}"
  }

  private static func word(_ kind: BoardWaitKind) -> String {
    switch kind {
    case .none: "a wait"
    case .queue: "for queue"
    case .group: "for a group"
    case .semaphore: "for a semaphore"
    case .workItem: "for a work item"
    case .loop: "for the end of concurrentPerform"
    case .once: "for dispatch_once"
    case .file: "for a file"
    }
  }

  /// A JSON string that ends no element of the page.
  private static func quoted(_ text: String) -> String {
    Report.quoted(text).replacing("<", with: "\\u003c")
  }
}
