// Purpose: the faults that need more than one condition in the interpreter.

import FuzzKit
import Glibc
import TestSupport

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

extension Run {
  /// Performs the steps. Of two consecutive plain submissions to one queue, the second goes first.
  func performSwapped(_ ops: [Op]) {
    var index = 0
    while index < ops.count {
      if index + 1 < ops.count, case .submit(let first) = ops[index],
        case .submit(let second) = ops[index + 1], first.isPlainAsync, second.isPlainAsync,
        first.queue == second.queue
      {
        log.append(.called, first.item.id)
        log.append(.returned, first.item.id)
        log.append(.called, second.item.id)
        let queue = objects.queues[first.queue]
        for item in [second.item, first.item] {
          tally.begin()
          queue.async { [self] in
            run(item)
            tally.end()
          }
        }
        log.append(.returned, second.item.id)
        index += 2
      } else {
        perform(ops[index])
        index += 1
      }
    }
  }

  /// Performs the steps. A step that may wait in the engine gives its permit up for that time.
  func perform(_ ops: [Op], in width: FixedWidth) {
    for op in ops {
      switch op {
      case .busyWait: perform(op)
      default: width.wait { perform(op) }
      }
    }
  }

  /// Logs the item's start and end again from a plain thread, after the run is over.
  func runAfterwards(_ item: Item) {
    _ = TestThread("afterwards") { [self] in
      tally.waitForAll()
      // The campaign notices the end of a run at once, and checks its log again some runs later.
      usleep(300)
      log.append(.started, item.id)
      log.append(.ended, item.id)
    }
  }
}
