// Purpose: runs the job as a process. The main thread is in dispatchMain(), items on the main queue
// draw the progress, and the last of them sends the report and exits.

import TourKit

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

public enum EngineRun {
  /// Runs the job for `request` and ends the process: with 0, or with an interruption's code.
  public static func run(_ request: EngineRequest) -> Never {
    Interruption.watch()
    let line = request.progressLine
    let gauge = Gauge(intervalNanoseconds: line.screen.intervalNanoseconds)
    let job = ConcurrentJob(
      root: request.root, descriptorLimit: request.descriptorLimit, gauge: gauge,
      draw: {
        // The main queue runs its items one at a time, so drawings never interleave.
        DispatchQueue.main.async(qos: .userInteractive) { line.draw(gauge) }
      })
    job.start { report in
      DispatchQueue.main.async { request.finish(with: report) }
    }
    dispatchMain()
  }
}
