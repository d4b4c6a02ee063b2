// The type that both compilations of the workloads return, so that one runner can drive either.

/// One thing to measure. The body is compiled once against each engine; everything else is equal.
public struct Workload: Sendable {
  /// How much work one sample does.
  public enum Size: Sendable, Equatable {
    /// The runner grows the count, for each engine by itself, until a sample lasts long enough.
    case timed
    /// The same count for both engines: the work's shape depends on it (a backlog, a tree).
    case fixed(Int)
    /// As `fixed`, and never made smaller by `--quick`.
    case exact(Int)
  }

  /// Where a sample runs.
  public enum Place: Sendable {
    /// In the benchmark's own process, alternating with the other engine.
    case shared
    /// In a fresh child process, so that memory and thread counts start clean.
    case child
  }

  /// One figure of a sample: a row of the table.
  public struct Row: Sendable, Equatable {
    public let name: String
    public let unit: String

    public init(_ name: String, unit: String = "ns") {
      self.name = name
      self.unit = unit
    }
  }

  public let name: String
  public let rows: [Row]
  public let size: Size
  public let place: Place
  public let body: @Sendable (_ count: Int) -> Sample

  /// A workload with one row, in nanoseconds an operation.
  public init(
    _ name: String, _ size: Size = .timed, body: @escaping @Sendable (_ count: Int) -> Sample
  ) {
    self.init(name, rows: [Row(name)], size, .shared, body: body)
  }

  public init(
    _ name: String, rows: [Row], _ size: Size, _ place: Place,
    body: @escaping @Sendable (_ count: Int) -> Sample
  ) {
    self.name = name
    self.rows = rows
    self.size = size
    self.place = place
    self.body = body
  }
}

/// What one run of a body measured.
public struct Sample: Sendable {
  /// The measured stretch, set-up and checks excluded; the runner sizes `timed` workloads by it.
  public let nanoseconds: UInt64
  /// One figure for each row of the workload.
  public let figures: [Double]

  /// `nanoseconds` spread over `operations`.
  public init(_ nanoseconds: UInt64, per operations: Int) {
    self.init(nanoseconds, figures: [Double(nanoseconds) / Double(operations)])
  }

  public init(_ nanoseconds: UInt64, figures: [Double]) {
    self.nanoseconds = nanoseconds
    self.figures = figures
  }
}
