// Room: Platform/TryRetain. Turns a reference that does not keep its object into one that does.
import CGrandCentralLinux

extension Unmanaged {
  /// Retains the object, or returns false if its last reference has gone. The caller must hold a
  /// lock that the object's deinit takes, so that its memory still exists.
  func tryRetain() -> Bool { swift_tryRetain(toOpaque()) != nil }
}
