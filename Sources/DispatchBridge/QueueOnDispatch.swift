// A queue of Grand Central whose items run on a queue of Dispatch.
import CGrandCentralLinux
public import Dispatch
public import GrandCentral
import GrandCentralCore

extension Dispatch.DispatchQueue {
  /// Makes a queue of Grand Central that targets this queue of Dispatch.
  ///
  /// Items of the new queue run as items of this queue: in their order, one at a time, and never
  /// beside another item of this queue, if this queue is serial. That holds for `sync` too, whose
  /// closure runs on the thread that runs this queue's items while the caller waits. Suspending
  /// either queue holds the items back. Call from any thread.
  ///
  /// A `sync` onto the new queue from an item of this queue, if it is serial, would wait for
  /// itself, and stops the process. If both libraries are one engine, as in a program that embeds
  /// `GrandCentralDropIn`, the new queue is an ordinary queue whose target is this one.
  ///
  /// - Parameter label: the new queue's name.
  /// - Returns: a serial queue. It keeps this one.
  /// - Source: `dispatch_queue_create_with_target(3)`.
  public func makeGrandCentralQueue(label: String) -> GrandCentral.DispatchQueue {
    if Engine.isShared {
      return GrandCentral.DispatchSerialQueue(label: label, target: Engine.queue(behind: self))
    }
    let place = PlaceOnDispatch(self)
    let hosted = HostedQueue(
      label: label,
      onAnnounce: { hosted in place.queue.async { hosted.perform() } },
      excludes: { place.isSerial && place.isCurrent })
    return GrandCentral.DispatchSerialQueue(label: label, target: hosted)
  }
}

/// A queue of Dispatch, and how to recognise a thread that runs its items.
private final class PlaceOnDispatch: Sendable {
  let queue: Dispatch.DispatchQueue
  /// Whether the queue runs one item at a time.
  let isSerial: Bool
  private let key = Dispatch.DispatchSpecificKey<Bool>()

  init(_ queue: Dispatch.DispatchQueue) {
    self.queue = queue
    isSerial = gc_bridge_width(Engine.object(of: queue)) == 1
    queue.setSpecific(key: key, value: true)
  }

  deinit { queue.setSpecific(key: key, value: nil) }

  /// Whether the calling thread runs an item of the queue, or of a queue that targets it.
  var isCurrent: Bool { Dispatch.DispatchQueue.getSpecific(key: key) != nil }
}
