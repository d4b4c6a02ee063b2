// Purpose: the engine that this module is compiled against, in the form that a campaign needs.
// FuzzEngineDispatch is a symbolic link to this folder: one source for two engines. Below the
// imports the code is the same for both.

import FuzzKit

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

public enum ThisEngine: TestedEngine {
  #if GRAND_CENTRAL
    public static let name = "ours"
    public static let module = "GrandCentral"
    public static let capabilities: Capabilities = [
      .after, .asyncAndWait, .retargetsActive, .mainQueue, .blocksAnywhere,
      .suspendsConcurrentAtOnce, .startsWhateverRuns, .tasks,
    ]
  #else
    public static let name = "toolchain"
    public static let module = "Dispatch"
    /// The toolchain's engine traps when an active queue is retargeted. When items of concurrent
    /// queues block, it adds one thread a second; when they poll or compute, none. Occasionally it
    /// starts an item that was submitted to a suspended concurrent queue.
    public static let capabilities: Capabilities = [.after, .mainQueue]
  #endif

  public static func run(
    _ program: Program, fault: Fault?, crew: Crew, watch: (EventLog) -> Void
  ) -> EventLog {
    let run = Run(program, fault: fault)
    watch(run.log)
    run.runToEnd(crew)
    return run.log
  }

  public static func drainMain() -> Never { dispatchMain() }
}
