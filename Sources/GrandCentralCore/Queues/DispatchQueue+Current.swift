// Room: Queues/DispatchQueue+Current. The queue that code runs on, for C programs.

extension DispatchQueue {
  /// The queue that the calling thread is on. The innermost, if it is on several; the main queue on
  /// the main thread outside every other queue; else `nil`.
  package static var current: DispatchQueue? {
    let thread = currentThread()
    // A source is a lane of its own, on a queue.
    if let innermost = Frames.innermost(thread)?.takeUnretainedValue() {
      for lane in innermost.hierarchy { if let queue = lane as? DispatchQueue { return queue } }
    }
    let main = Runtime.shared.main
    return main.isBoundTo(thread) ? main : nil
  }

  /// Whether the calling thread runs an item of this queue, or of a queue that targets it.
  package final var isCurrent: Bool { isCurrent(on: currentThread()) }

  /// The queues that live as long as the process: the global queues in the order of `Band`, the
  /// overcommit queues in the same order, and the main queue.
  package static var immortal: [DispatchQueue] {
    Runtime.shared.allRoots + [Runtime.shared.main]
  }

  /// Returns the overcommit queue of a class: its items start beyond the width, as activations of
  /// serial queues do.
  package static func overcommitGlobal(qos: DispatchQoS.QoSClass) -> DispatchQueue {
    let band = PackedQoS(DispatchQoS(qosClass: qos, relativePriority: 0)).band
    return Runtime.shared.overcommitRoots[Int(band.rawValue)]
  }
}
