// Whether calls of the C interface reach this library.
import CGrandCentralLinux

/// Whether every call of the C interface, from any library of the process, reaches these functions.
public var isInCharge: Bool {
  // SAFETY: compares the address of the first definition in the default scope.
  let found = dlsym(nil, "dispatch_async_f")
  // Not found: a statically linked program that hides these symbols. No other libdispatch is
  // present.
  if found == nil { return true }
  let own: @convention(c) (Handle?, UnsafeMutableRawPointer?, @escaping ClientFunction) -> Void =
    dispatchAsyncFunction
  return UInt(bitPattern: found) == unsafeBitCast(own, to: UInt.self)
}
