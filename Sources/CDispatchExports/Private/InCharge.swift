// Whether the names of the C interface lead here.
import CLinux

/// Whether a call of the C interface, from any library of the process, comes to these functions.
public var isInCharge: Bool {
  // SAFETY: the default scope's first definition, by its address.
  let found = dlsym(nil, "dispatch_async_f")
  // None: a program that is linked statically and keeps its names to itself. There is no libdispatch but this one.
  if found == nil { return true }
  let own: @convention(c) (Handle?, UnsafeMutableRawPointer?, @escaping ClientFunction) -> Void =
    dispatchAsyncFunction
  return UInt(bitPattern: found) == unsafeBitCast(own, to: UInt.self)
}
