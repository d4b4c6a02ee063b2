// Purpose: encodes the tour's request to an engine's process. The tour starts itself again with
// these arguments, which are internal and not in the help.

/// The three implementations of the job.
public enum Engine: String, CaseIterable, Sendable {
  case serial
  case dispatch
  case grandCentral = "grand-central"

  public var title: String {
    switch self {
    case .serial: "serial loop"
    case .dispatch: "toolchain's Dispatch"
    case .grandCentral: "Grand Central"
    }
  }
}

public struct EngineRequest: Sendable {
  /// The descriptor of the report's pipe in an engine's process.
  public static let reportDescriptor: Int32 = 3

  public let engine: Engine
  public let root: Path
  public let descriptorLimit: Int
  public let isPlain: Bool
  public let progressTitle: String
  public let expectedBytes: Int

  public init(
    engine: Engine, root: Path, descriptorLimit: Int, isPlain: Bool, progressTitle: String,
    expectedBytes: Int
  ) {
    self.engine = engine
    self.root = root
    self.descriptorLimit = descriptorLimit
    self.isPlain = isPlain
    self.progressTitle = progressTitle
    self.expectedBytes = expectedBytes
  }

  private static let mark = "--engine-process"

  /// The arguments for an engine's process, in the order that `init(arguments:)` reads them.
  public var arguments: [Path] {
    let words = [
      Self.mark, engine.rawValue, "\(descriptorLimit)", "\(isPlain)", progressTitle,
      "\(expectedBytes)",
    ]
    return words.map { Path($0) } + [root]
  }

  /// Parses the arguments of an engine's process; nil if they are not of that form.
  public init?(arguments: [Path]) {
    guard arguments.count == 7 else { return nil }
    let words = arguments.map(\.description)
    guard words[0] == Self.mark, let engine = Engine(rawValue: words[1]),
      let descriptorLimit = Int(words[2]), let isPlain = Bool(words[3]),
      let expectedBytes = Int(words[5])
    else { return nil }
    self.init(
      engine: engine, root: arguments[6], descriptorLimit: descriptorLimit, isPlain: isPlain,
      progressTitle: words[4], expectedBytes: expectedBytes)
  }

  public var progressLine: ProgressLine {
    ProgressLine(
      screen: Screen(plain: isPlain), title: progressTitle, expectedBytes: expectedBytes)
  }

  /// Sends the report to the tour's process and exits.
  public func finish(with report: RunReport) -> Never {
    Machine.put(report.encoded, to: Self.reportDescriptor)
    Machine.leave(report.isPartial ? Interruption.exitCode : 0)
  }
}
