// Room: Queues/DispatchQueue+Current. The queue that code runs on, for C programs, which may ask.

extension DispatchQueue {
  /// The innermost queue that the calling thread runs an item of; on the main thread the main queue; else `nil`.
  package static var current: DispatchQueue? {
    let thread = currentThread()
    // A source is a lane of its own, on a queue.
    if let innermost = Frames.innermost(thread) {
      for lane in innermost.hierarchy { if let queue = lane as? DispatchQueue { return queue } }
    }
    let main = Runtime.shared.main
    return main.isBoundTo(thread) ? main : nil
  }

  /// Whether the calling thread runs an item of this queue, or of one that leads to it.
  package final var isCurrent: Bool { isCurrent(on: currentThread()) }

  /// The queues that nobody makes and nobody may let go of: the global ones, in the order of `Band`, and the main one.
  package static var everlasting: [DispatchQueue] { Runtime.shared.roots + [Runtime.shared.main] }
}
