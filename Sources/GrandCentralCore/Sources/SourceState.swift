// Room: Sources/SourceState. The word that says what a source has still to do on its queue.
//   0 queued     its event node is on the lane, and will take all data that is pending then; before the start: whoever
//                starts the source queues it
//   2 started    it has been activated, and watches or will do so when its registration handler is about to run
//   3 registers   it may have a registration handler: the source's lock says
//   1 cancelled  no event handler starts from now on; the cancel handler is on the lane, or has run
// signal: data first, then queued. The event node clears queued first, then takes the data. So data that comes
// before the clearing is taken now, and data that comes after it finds queued clear and queues anew.

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
