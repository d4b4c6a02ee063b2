// Purpose: the findings and costs of one run of one engine. An engine's process sends them to the
// tour as NUL-terminated fields, because paths may hold any other byte.

/// A file and its checksum.
public struct FileRecord: Hashable, Sendable {
  public let path: Path
  public let checksum: UInt32
  public let count: UInt64
  public let kind: FileKind

  public init(path: Path, checksum: UInt32, count: UInt64, kind: FileKind) {
    self.path = path
    self.checksum = checksum
    self.count = count
    self.kind = kind
  }
}

/// The findings of a run. All correct engines have the same findings.
public struct Findings: Hashable, Sendable {
  public var files: [FileRecord] = []
  public var faults: [FileFault] = []
  public var folders = 0
  public var others = 0

  public init() {}

  public var byteCount: UInt64 { files.reduce(0) { $0 + $1.count } }

  /// Sorts files and faults by path, because engines find them in any order.
  public mutating func sort() {
    files.sort { $0.path < $1.path }
    faults.sort { $0.path < $1.path }
  }

  /// The kinds found, with their numbers of files, most files first.
  public var kinds: [(kind: FileKind, files: Int)] {
    let counts = Dictionary(files.map { ($0.kind, 1) }, uniquingKeysWith: +)
    return counts.map { (kind: $0.key, files: $0.value) }
      .sorted { ($1.files, $0.kind.rawValue) < ($0.files, $1.kind.rawValue) }
  }
}

/// The costs of a run.
public struct Costs: Hashable, Sendable {
  public var seconds = 0.0
  public var processorSeconds = 0.0
  public var peakThreads = 1
  public var peakMemoryBytes = 0

  public init() {}

  /// The costs of this process since `start`, when its work began.
  public init(since start: UInt64) {
    seconds = Machine.seconds(since: start)
    processorSeconds = Machine.processorSeconds
    peakThreads = Machine.threadCount
    peakMemoryBytes = Machine.peakMemoryBytes
  }
}

public struct RunReport: Hashable, Sendable {
  public var findings: Findings
  public var costs: Costs
  /// Whether the run was interrupted before it had seen everything.
  public var isPartial: Bool

  public init(findings: Findings, costs: Costs, isPartial: Bool) {
    self.findings = findings
    self.costs = costs
    self.isPartial = isPartial
  }
}

extension RunReport {
  private static let mark = "tour report 1"

  /// The report, encoded as bytes.
  public var encoded: [UInt8] {
    var bytes: [UInt8] = []
    func add(_ field: some Sequence<UInt8>) {
      bytes.append(contentsOf: field)
      bytes.append(0)
    }
    add(Self.mark.utf8)
    add("\(isPartial)".utf8)
    add("\(costs.seconds)".utf8)
    add("\(costs.processorSeconds)".utf8)
    let numbers = [
      costs.peakThreads, costs.peakMemoryBytes, findings.folders, findings.others,
      findings.files.count, findings.faults.count,
    ]
    for number in numbers { add("\(number)".utf8) }
    for file in findings.files {
      add("\(file.checksum)".utf8)
      add("\(file.count)".utf8)
      add(file.kind.rawValue.utf8)
      add(file.path.bytes)
    }
    for fault in findings.faults {
      add("\(fault.code)".utf8)
      add(fault.path.bytes)
    }
    return bytes
  }

  /// Decodes a report; nil if it is incomplete.
  public init?(encoded bytes: [UInt8]) {
    var fields = Fields(rest: bytes[...])
    guard fields.text() == Self.mark, let isPartial = fields.value(Bool.self),
      let seconds = fields.value(Double.self), let processorSeconds = fields.value(Double.self),
      let threads = fields.value(Int.self), let memory = fields.value(Int.self),
      let folders = fields.value(Int.self), let others = fields.value(Int.self),
      let fileCount = fields.value(Int.self), let faultCount = fields.value(Int.self)
    else { return nil }
    costs = Costs()
    costs.seconds = seconds
    costs.processorSeconds = processorSeconds
    costs.peakThreads = threads
    costs.peakMemoryBytes = memory
    findings = Findings()
    findings.folders = folders
    findings.others = others
    self.isPartial = isPartial
    findings.files.reserveCapacity(fileCount)
    for _ in 0..<fileCount {
      guard let checksum = fields.value(UInt32.self), let count = fields.value(UInt64.self),
        let kind = fields.text().flatMap(FileKind.init(rawValue:)), let path = fields.bytes()
      else { return nil }
      findings.files.append(
        FileRecord(path: Path(bytes: path), checksum: checksum, count: count, kind: kind))
    }
    for _ in 0..<faultCount {
      guard let code = fields.value(Int32.self), let path = fields.bytes() else { return nil }
      findings.faults.append(FileFault(path: Path(bytes: path), code: code))
    }
  }
}

/// Removes NUL-terminated fields from the front of the bytes.
private struct Fields {
  var rest: ArraySlice<UInt8>

  mutating func bytes() -> ArraySlice<UInt8>? {
    guard let end = rest.firstIndex(of: 0) else { return nil }
    defer { rest = rest[(end + 1)...] }
    return rest[..<end]
  }

  mutating func text() -> String? {
    bytes().map { String(decoding: $0, as: UTF8.self) }
  }

  mutating func value<Value: LosslessStringConvertible>(_: Value.Type) -> Value? {
    text().flatMap(Value.init)
  }
}
