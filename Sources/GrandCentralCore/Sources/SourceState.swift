// Room: Sources/SourceState. The word that says what a source still has to do on its queue.
//   0 queued     the event node is on the lane, and will take all pending data when it runs; before
//                the start: the thread that starts the source will queue the node
//   2 started    the source is active; it monitors, or will when its registration handler is about
//                to run
//   3 registers  it may have a registration handler; the source's lock decides
//   1 cancelled  no event handler starts from now on; the cancel handler is on the lane, or has run
// A signal stores its data first, then sets queued. The event node clears queued first, then takes
// the data. So data stored before the clearing is taken by that node; data stored after it finds
// queued clear, and queues a new node.

struct SourceState: Hashable {
  let rawValue: UInt32

  static let queued: UInt32 = 1
  static let cancelled: UInt32 = 2
  static let started: UInt32 = 4
  static let registers: UInt32 = 8

  var isQueued: Bool { rawValue & Self.queued != 0 }
  var isCancelled: Bool { rawValue & Self.cancelled != 0 }
  var isStarted: Bool { rawValue & Self.started != 0 }
  var mayRegister: Bool { rawValue & Self.registers != 0 }
}
