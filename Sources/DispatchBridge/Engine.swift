// Whether the process's Dispatch and this module's engine are one, and the object behind a queue of
// Dispatch's Swift overlay.
import CGrandCentralLinux
import Dispatch
import GrandCentral
import GrandCentralCore

enum Engine {
  /// Whether the C functions of Dispatch reach this program's own engine, as in a program that
  /// embeds GrandCentralDropIn: then a queue of Dispatch is an object of this engine.
  static let isShared: Bool = {
    // 0: the default class. The handle of a queue of the engine is the address of its object.
    let found = gc_bridge_global_queue(0, 0)
    return found == Unmanaged.passUnretained(GrandCentral.DispatchQueue.global()).toOpaque()
  }()

  /// The C object of a queue.
  static func object(of queue: Dispatch.DispatchQueue) -> UnsafeMutableRawPointer {
    // The overlay keeps it in its only stored property and has no public accessor. The alternative,
    // dispatch_get_current_queue() inside a sync(), would wait for the queue.
    for child in Mirror(reflecting: queue).children {
      if let pointer = child.value as? OpaquePointer { return UnsafeMutableRawPointer(pointer) }
    }
    clientFault(
      "This toolchain's DispatchQueue does not show its C object. "
        + "Use the bridge with the toolchain that the package names.")
  }

  /// The engine's own object behind a queue of Dispatch. Only if the engine is shared.
  static func queue(behind queue: Dispatch.DispatchQueue) -> GrandCentral.DispatchQueue {
    // SAFETY: isShared says that each handle is the address of an object of this engine; `queue`
    // keeps it.
    Unmanaged<GrandCentral.DispatchQueue>.fromOpaque(object(of: queue)).takeUnretainedValue()
  }
}
