// Purpose: plays one scene of the chapter of the classes as a process. The main thread waits for
// the scene's work and sends the report.

import TourKit

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

public enum SceneRun {
  /// Plays the scene of `request` and ends the process.
  public static func run(_ request: SceneRequest) -> Never {
    Interruption.leaveToParent()
    let pieces = FilePieces(below: request.root)
    var report = SceneReport()
    report.counts["pieces"] = pieces.pieces.count
    report.counts["files"] = pieces.files
    report.counts["digest"] = Int(pieces.digest)
    switch request.scene {
    case .requests: RequestScene(pieces).play(into: &report)
    case .inversions: InversionScene(pieces).play(into: &report)
    }
    request.finish(with: report)
  }
}
