// Purpose: a whole process around the job: the main thread belongs to dispatchMain(), progress is
// drawn by items on the main queue, and the last of them sends the report and leaves.

import TourKit

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

public enum EngineRun {
  /// Runs the job as `request` says and ends the process with its exit code.
  public static func run(_ request: EngineRequest) -> Never {
    Interruption.watch()
    let line = request.progressLine
    let gauge = Gauge(intervalNanoseconds: line.screen.intervalNanoseconds)
    let job = ConcurrentJob(
      root: request.root, descriptorLimit: request.descriptorLimit, gauge: gauge,
      draw: {
        // The main queue's items run one at a time on the main thread, so that drawings never mix.
        DispatchQueue.main.async(qos: .userInteractive) { line.draw(gauge) }
      })
    job.start { report in
      DispatchQueue.main.async { request.finish(with: report) }
    }
    dispatchMain()
  }
}
