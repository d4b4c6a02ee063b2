// Purpose: the requests of the chapter of the classes to the processes that play its scenes, one
// engine each, and the reports of these processes: lines of words and numbers on standard output.

/// A scene of the chapter of the classes.
public enum Scene: String, CaseIterable, Sendable {
  /// A user's requests, alone and beside a scan in the background.
  case requests
  /// Urgent work behind background work, while utility work keeps every CPU busy.
  case inversions

  /// The number of repetitions of each inversion.
  public static let rounds = 5
}

/// The kind of a user's requests.
public enum RequestKind: String, CaseIterable, Sendable {
  /// The checksum of a piece of a file.
  case short
  /// Checksums for some milliseconds.
  case long

  /// The number of requests.
  public var count: Int { self == .short ? 300 : 50 }

  /// The time between two requests, in milliseconds.
  public var intervalMilliseconds: Int { self == .short ? 2 : 30 }

  /// The minimum processor time of a request, in milliseconds.
  public var processorMilliseconds: Int { self == .short ? 0 : 6 }
}

public struct SceneRequest: Sendable {
  public let scene: Scene
  public let engine: Engine
  /// The PATH argument of the tour.
  public let root: Path

  public init(_ scene: Scene, on engine: Engine, root: Path) {
    self.scene = scene
    self.engine = engine
    self.root = root
  }

  private static let mark = "--scene-process"

  /// The arguments for the scene's process, in the order that `init(arguments:)` reads them.
  public var arguments: [Path] {
    [Self.mark, scene.rawValue, engine.rawValue].map { Path($0) } + [root]
  }

  /// Parses the arguments of a scene's process; nil if they are not of that form.
  public init?(arguments: [Path]) {
    guard arguments.count == 4, arguments[0].description == Self.mark,
      let scene = Scene(rawValue: arguments[1].description),
      let engine = Engine(rawValue: arguments[2].description), engine != .serial
    else { return nil }
    self.init(scene, on: engine, root: arguments[3])
  }

  /// Prints the report and exits.
  public func finish(with report: SceneReport) -> Never {
    Machine.say(report.encoded)
    Machine.leave(0)
  }
}

public struct SceneReport: Hashable, Sendable {
  /// Lists of times, in nanoseconds, by name.
  public var times: [String: [UInt64]] = [:]
  public var counts: [String: Int] = [:]

  public init() {}

  private static let end = "end"

  public var encoded: String {
    let lists = times.sorted { $0.key < $1.key }
      .map { name, list in (["times", name] + list.map(String.init)).joined(separator: " ") }
    let numbers = counts.sorted { $0.key < $1.key }.map { "count \($0.key) \($0.value)" }
    return (lists + numbers + [Self.end]).map { $0 + "\n" }.joined()
  }

  /// Decodes a report; nil if it is incomplete.
  public init?(encoded text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.suffix(2) == [Self.end[...], ""] else { return nil }
    for line in lines.dropLast(2) {
      let words = line.split(separator: " ")
      guard words.count >= 2 else { return nil }
      let name = String(words[1])
      let numbers = words.dropFirst(2).compactMap { UInt64($0) }
      switch (words[0], numbers.count) {
      case ("times", words.count - 2): times[name] = numbers
      case ("count", 1) where words.count == 3: counts[name] = Int(clamping: numbers[0])
      default: return nil
      }
    }
  }
}
