// Room: Primitives/EventFD. An EventFD: a descriptor that a thread makes readable to wake another,
// eventfd(2).
import CGrandCentralLinux

public enum EventFD {
  /// Makes a non-blocking eventfd. Returns -1, with errno set, if the kernel refuses.
  public static func make() -> Int32 { gc_eventfd() }

  /// Makes the descriptor readable.
  public static func signal(_ descriptor: Int32) {
    var one: UInt64 = 1
    // EAGAIN: the counter is at its maximum, so the descriptor is readable already. eventfd(2).
    _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
  }
}
