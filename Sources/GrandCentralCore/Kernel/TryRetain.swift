// Room: Kernel/TryRetain. A reference that does not keep its object, and can become one that does.
import CLinux

extension Unmanaged {
  /// Retains the object, unless its last reference has gone: then returns false. For those who know that its memory is
  /// still there, since its deinit must come by a lock that they hold.
  func tryRetain() -> Bool { swift_tryRetain(toOpaque()) != nil }
}
