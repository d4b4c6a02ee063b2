// Purpose: the faults that take more than a condition.

import FuzzKit
import Glibc
import TestSupport

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

extension Run {
  /// Of two plain submissions in a row to one queue, the second reaches it first.
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

  /// Steps that may wait in the engine leave their place to others.
  func perform(_ ops: [Op], in width: FixedWidth) {
    for op in ops {
      switch op {
      case .busyWait: perform(op)
      default: width.wait { perform(op) }
      }
    }
  }

  /// A plain thread runs the item's shell again when the run is over.
  func runAfterwards(_ item: Item) {
    _ = TestThread("afterwards") { [self] in
      tally.waitForAll()
      // The end of a run is noticed at once, and its log is looked at again some runs later.
      usleep(300)
      log.append(.started, item.id)
      log.append(.ended, item.id)
    }
  }
}
