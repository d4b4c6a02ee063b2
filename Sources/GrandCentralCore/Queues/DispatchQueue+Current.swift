// Room: Queues/DispatchQueue+Current. The queue that code runs on, for C programs.

extension DispatchQueue {
  /// The innermost queue whose item the calling thread runs; on the main thread the main queue;
  /// else `nil`.
  package static var current: DispatchQueue? {
    let thread = currentThread()
    // A source is a lane of its own, on a queue.
    if let innermost = Frames.innermost(thread) {
      for lane in innermost.hierarchy { if let queue = lane as? DispatchQueue { return queue } }
    }
    let main = Runtime.shared.main
    return main.isBoundTo(thread) ? main : nil
  }

  /// Whether the calling thread runs an item of this queue, or of one that targets it.
  package final var isCurrent: Bool { isCurrent(on: currentThread()) }

  /// The queues that live as long as the process: the global queues in the order of `Band`, the
  /// overcommit queues in the same order, and the main queue.
  package static var everlasting: [DispatchQueue] {
    Runtime.shared.allRoots + [Runtime.shared.main]
  }

  /// Returns the global queue of a class whose items start beyond the width, as activations of
  /// serial queues do.
  package static func overcommitGlobal(qos: DispatchQoS.QoSClass) -> DispatchQueue {
    let band = PackedQoS(DispatchQoS(qosClass: qos, relativePriority: 0)).band
    return Runtime.shared.overcommitRoots[Int(band.rawValue)]
  }
}
