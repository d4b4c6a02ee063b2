// Purpose: what the chapter of the classes asks of the processes that play its scenes, one engine
// each, and what they send back: lines of words and numbers on standard output.

/// What is played.
public enum Scene: String, CaseIterable, Sendable {
  /// A user's requests, alone and beside a scan in the background.
  case requests
  /// Urgent work behind background work, while utility work keeps every CPU busy.
  case inversions

  /// How often each inversion is made.
  public static let rounds = 5
}

/// What a user asks for.
public enum RequestKind: String, CaseIterable, Sendable {
  /// The checksum of a piece of a file.
  case short
  /// Checksums for some milliseconds.
  case long

  /// How many are sent.
  public var count: Int { self == .short ? 300 : 50 }

  /// From one to the next.
  public var intervalMilliseconds: Int { self == .short ? 2 : 30 }

  /// The processor time that each takes at the least.
  public var processorMilliseconds: Int { self == .short ? 0 : 6 }
}

public struct SceneRequest: Sendable {
  public let scene: Scene
  public let engine: Engine
  /// What the tour was given.
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

  /// Reads the arguments of a scene's process; nil when these are not such.
  public init?(arguments: [Path]) {
    guard arguments.count == 4, arguments[0].description == Self.mark,
      let scene = Scene(rawValue: arguments[1].description),
      let engine = Engine(rawValue: arguments[2].description), engine != .serial
    else { return nil }
    self.init(scene, on: engine, root: arguments[3])
  }

  /// Sends the report and leaves.
  public func finish(with report: SceneReport) -> Never {
    Machine.say(report.encoded)
    Machine.leave(0)
  }
}

public struct SceneReport: Hashable, Sendable {
  /// Lists of nanoseconds.
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

  /// Reads a report back; nil when it is not whole.
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
