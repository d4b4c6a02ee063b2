// Room: Primitives/Doorbell. A descriptor that becomes readable when somebody rings: eventfd(2).
import CLinux

public enum Doorbell {
  /// A new one, non-blocking; -1 when the kernel refuses, with errno set.
  public static func make() -> Int32 { gc_eventfd() }

  public static func ring(_ descriptor: Int32) {
    var one: UInt64 = 1
    // EAGAIN: the counter is at its end, so the descriptor is readable as it is. eventfd(2).
    _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
  }
}
