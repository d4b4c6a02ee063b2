// Purpose: runs each scene in a process of its own, and reads the report that the process sends.

import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

struct ScenePlayer {
  let root: Path
  /// The folder for the reports until they are read.
  let folder: Path

  struct Seen {
    let report: SceneReport

    /// The number `name`, or the length of the list `name`; -1 if there is neither.
    subscript(name: String) -> Int { report.counts[name] ?? report.times[name]?.count ?? -1 }
  }

  enum Fault: Error, CustomStringConvertible {
    case notStarted(String)
    case ended(Ending)
    case incomplete

    var description: String {
      switch self {
      case .notStarted(let reason): "not started: \(reason)"
      case .ended(let ending): "\(ending)"
      case .incomplete: "what it sent is not whole"
      }
    }
  }

  /// Runs `scene` on `engine` and waits for its end.
  /// - Parameter isResolved: whether this engine boosts the work for which urgent work waits.
  func play(_ scene: Scene, on engine: Engine, isResolved: Bool) -> Result<Seen, Fault> {
    let file = folder.appending("scene")
    let request = SceneRequest(scene, on: engine, root: root)
    let spawn = Spawn.itself(request.arguments).reading(Path("/dev/null")).writing(to: file)
      .setting("GRANDCENTRAL_OVERRIDES", isResolved ? "on" : "off")
    switch WatchedProgram.run([spawn], seconds: 120)[0] {
    case .failure(let fault): return .failure(.notStarted(fault.reason))
    case .success(.exited(0)):
      guard let report = SceneReport(encoded: textOf(file, maxBytes: 1 << 20)) else {
        return .failure(.incomplete)
      }
      return .success(Seen(report: report))
    case .success(let ending): return .failure(.ended(ending))
    }
  }
}
