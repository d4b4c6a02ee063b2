// Purpose: encodes a program as one line of text for the process that runs it. A list is its length
// followed by its numbers; a missing number is a dash.

extension Program {
  public var text: String {
    var writer = WordWriter()
    writer.put(queues) { writer, queue in
      writer.put(queue.kind.rawValue)
      writer.put(queue.level)
      writer.put(queue.target)
      writer.put(queue.isInactive)
      writer.put(queue.qos)
      writer.put(queue.specifics)
    }
    writer.put(groups) { $0.put($1.level) }
    writer.put(semaphores) { writer, semaphore in
      writer.put(semaphore.value)
      writer.put(semaphore.level)
    }
    writer.put(drivers) { $0.put($1) }
    return writer.words.joined(separator: " ")
  }

  public init?(text: some StringProtocol) {
    var reader = WordReader(text)
    do throws(WordReader.Fault) {
      queues = try reader.list { reader throws(WordReader.Fault) in
        guard let kind = QueueSpec.Kind(rawValue: try reader.number()) else { throw .unknown }
        return QueueSpec(
          kind, level: try reader.number(), target: try reader.optional(),
          isInactive: try reader.flag(), qos: try reader.number(), specifics: try reader.number())
      }
      groups = try reader.list { reader throws(WordReader.Fault) in
        GroupSpec(level: try reader.number())
      }
      semaphores = try reader.list { reader throws(WordReader.Fault) in
        SemaphoreSpec(value: try reader.number(), level: try reader.number())
      }
      drivers = try reader.list { reader throws(WordReader.Fault) in try reader.ops() }
    } catch {
      return nil
    }
    if !reader.isAtEnd { return nil }
  }
}

struct WordWriter {
  var words: [String] = []

  mutating func put(_ number: Int) { words.append(String(number)) }
  mutating func put(_ number: Int?) { words.append(number.map { String($0) } ?? "-") }
  mutating func put(_ flag: Bool) { words.append(flag ? "1" : "0") }

  mutating func put<Element>(
    _ elements: [Element], _ body: (inout WordWriter, Element) -> Void
  ) {
    put(elements.count)
    for element in elements { body(&self, element) }
  }

  mutating func put(_ ops: [Op]) { put(ops) { $0.put($1) } }

  mutating func put(_ item: Item) {
    put(item.id)
    put(item.body)
  }

  mutating func put(_ submission: Submission) {
    put(submission.item)
    put(submission.queue)
    switch submission.way {
    case .async: words.append("async")
    case .sync: words.append("sync")
    case .asyncAndWait: words.append("asyncAndWait")
    case .perform: words.append("perform")
    case .after(let microseconds): put("after", microseconds)
    case .task: words.append("task")
    case .actor(let hops): put("actor", hops)
    }
    put(submission.isBarrier)
    put(submission.hasHandle)
    put(submission.membership?.group)
    put(submission.membership?.isByHand ?? false)
    put(submission.qos)
  }

  mutating func put(_ name: String, _ numbers: Int?...) {
    words.append(name)
    for number in numbers { put(number) }
  }

  mutating func put(_ op: Op) {
    switch op {
    case .submit(let submission):
      put("submit")
      put(submission)
    case .iterate(let id, let items):
      put("iterate", id)
      put(items) { $0.put($1) }
    case .notify(let group, let queue, let item):
      put("notify", group, queue)
      put(item)
    case .waitGroup(let id, let group, let patience): put("waitGroup", id, group, patience)
    case .permit(let id, let semaphore, let patience, let body):
      put("permit", id, semaphore, patience)
      put(body)
    case .handshake(let id, let semaphore, let submission):
      put("handshake", id, semaphore)
      put(submission)
    case .suspended(let id, let queue, let body):
      put("suspended", id, queue)
      put(body)
    case .suspendUntil(let id, let queue, let submission):
      put("suspendUntil", id, queue)
      put(submission)
    case .activate(let id, let queue, let target): put("activate", id, queue, target)
    case .retarget(let id, let queue, let target): put("retarget", id, queue, target)
    case .cancel(let id, let item): put("cancel", id, item)
    case .waitItem(let id, let item): put("waitItem", id, item)
    case .notifyItem(let other, let queue, let item):
      put("notifyItem", other, queue)
      put(item)
    case .readSpecific(let id, let key): put("readSpecific", id, key)
    case .spin(let id, let amount): put("spin", id, amount)
    case .busyWait(let id, let item, let milestone, let polling):
      put("busyWait", id, item)
      words.append(milestone.rawValue)
      put(polling)
    case .meeting(let id, let polling, let members):
      put("meeting", id)
      put(polling)
      put(members) { $0.put($1) }
    }
  }

  mutating func put(_ polling: Polling) { put(polling.manner.rawValue, polling.amount) }
}

struct WordReader {
  enum Fault: Error { case tooShort, noNumber, unknown }

  private let words: [Substring]
  private var next = 0

  init(_ text: some StringProtocol) {
    words = Substring(text).split { $0 == " " || $0 == "\n" }
  }

  var isAtEnd: Bool { next == words.count }

  mutating func word() throws(Fault) -> Substring {
    guard next < words.count else { throw .tooShort }
    next += 1
    return words[next - 1]
  }

  mutating func number() throws(Fault) -> Int {
    guard let number = Int(try word()) else { throw .noNumber }
    return number
  }

  mutating func optional() throws(Fault) -> Int? {
    let text = try word()
    if text == "-" { return nil }
    guard let number = Int(text) else { throw .noNumber }
    return number
  }

  mutating func flag() throws(Fault) -> Bool { try number() != 0 }

  mutating func list<Element>(
    _ body: (inout WordReader) throws(Fault) -> Element
  ) throws(Fault) -> [Element] {
    var elements: [Element] = []
    for _ in 0..<(try number()) { elements.append(try body(&self)) }
    return elements
  }

  mutating func ops() throws(Fault) -> [Op] {
    try list { reader throws(Fault) in try reader.op() }
  }

  mutating func item() throws(Fault) -> Item { Item(try number(), try ops()) }

  mutating func way() throws(Fault) -> Submission.Way {
    switch try word() {
    case "async": .async
    case "sync": .sync
    case "asyncAndWait": .asyncAndWait
    case "perform": .perform
    case "after": .after(try number())
    case "task": .task
    case "actor": .actor(hops: try number())
    default: throw .unknown
    }
  }

  mutating func submission() throws(Fault) -> Submission {
    var submission = Submission(try item(), queue: try number(), way: try way())
    submission.isBarrier = try flag()
    submission.hasHandle = try flag()
    let group = try optional()
    let isByHand = try flag()
    submission.membership = group.map { .init($0, isByHand: isByHand) }
    submission.qos = try number()
    return submission
  }

  mutating func op() throws(Fault) -> Op {
    switch try word() {
    case "submit": .submit(try submission())
    case "iterate":
      .iterate(id: try number(), try list { reader throws(Fault) in try reader.item() })
    case "notify": .notify(group: try number(), queue: try number(), try item())
    case "waitGroup":
      .waitGroup(id: try number(), group: try number(), patience: try optional())
    case "permit":
      .permit(
        id: try number(), semaphore: try number(), patience: try optional(), body: try ops())
    case "handshake":
      .handshake(id: try number(), semaphore: try number(), try submission())
    case "suspended": .suspended(id: try number(), queue: try number(), body: try ops())
    case "suspendUntil":
      .suspendUntil(id: try number(), queue: try number(), try submission())
    case "activate": .activate(id: try number(), queue: try number(), target: try optional())
    case "retarget": .retarget(id: try number(), queue: try number(), target: try optional())
    case "cancel": .cancel(id: try number(), item: try number())
    case "waitItem": .waitItem(id: try number(), item: try number())
    case "notifyItem": .notifyItem(of: try number(), queue: try number(), try item())
    case "readSpecific": .readSpecific(id: try number(), key: try number())
    case "spin": .spin(id: try number(), amount: try number())
    case "busyWait":
      .busyWait(
        id: try number(), item: try number(), until: try milestone(), by: try polling())
    case "meeting":
      .meeting(
        id: try number(), by: try polling(),
        try list { reader throws(WordReader.Fault) in try reader.submission() })
    default: throw .unknown
    }
  }

  mutating func milestone() throws(Fault) -> Milestone {
    guard let milestone = Milestone(rawValue: String(try word())) else { throw .unknown }
    return milestone
  }

  mutating func polling() throws(Fault) -> Polling {
    guard let manner = Polling.Manner(rawValue: String(try word())) else { throw .unknown }
    return Polling(manner, amount: try number())
  }
}
