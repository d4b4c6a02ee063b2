// The type that both compilations of the workloads share, so one runner drives either.

/// A workload to measure. The body is compiled once against each engine; all else is equal.
public struct Workload: Sendable {
  /// The amount of work per sample.
  public enum Size: Sendable, Equatable {
    /// The runner increases the count for each engine until a sample lasts long enough.
    case timed
    /// The same count for both engines, because it changes the kind of work: a backlog, a tree.
    case fixed(Int)
    /// Like `fixed`, but `--quick` does not reduce it.
    case exact(Int)
  }

  /// The process in which a sample runs.
  public enum Place: Sendable {
    /// The benchmark's own process, alternating with the other engine.
    case shared
    /// A new child process, so that memory and thread counts start clean.
    case child
  }

  /// A figure of a sample: a row of the table.
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

  /// A workload with one row, in nanoseconds per operation.
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

/// The measurement of one run of a body.
public struct Sample: Sendable {
  /// The duration of the measured interval, without set-up and checks. The runner sizes `timed`
  /// workloads by it.
  public let nanoseconds: UInt64
  /// One figure for each row of the workload.
  public let figures: [Double]

  /// Divides `nanoseconds` by `operations`.
  public init(_ nanoseconds: UInt64, per operations: Int) {
    self.init(nanoseconds, figures: [Double(nanoseconds) / Double(operations)])
  }

  public init(_ nanoseconds: UInt64, figures: [Double]) {
    self.nanoseconds = nanoseconds
    self.figures = figures
  }
}
