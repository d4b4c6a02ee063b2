// The list of all workloads and their shared types. This folder is compiled against each engine.

import Metrics

public func allWorkloads() -> [Workload] {
  syncWorkloads + mutexWorkloads + floorWorkloads + asyncWorkloads + wakeWorkloads + poolWorkloads
    + barrierWorkloads + targetWorkloads + groupWorkloads + semaphoreWorkloads
    + workItemWorkloads + specificWorkloads + performWorkloads + queueWorkloads + memoryWorkloads
    + blockingWorkloads + sourceWorkloads + descriptorWorkloads + timerWorkloads
    + timerMemoryWorkloads + dataWorkloads + channelWorkloads + qosWorkloads
    + taskWorkloads
}

/// A number that the workload protects by a serial queue or a barrier.
///
/// Exclusivity is unchecked because the check would cost as much as the fast paths measured.
final class Tally: @unchecked Sendable {
  @exclusivity(unchecked) var value = 0
}
