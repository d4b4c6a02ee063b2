// What the library does when it is loaded.
import CDispatchStorage

/// Idempotent; the loader calls it, and so do programs and libraries that cannot be sure.
@c(libdispatch_init)
public func libdispatchInit() { _ = start }

private let start: Void = {
  gc_set_block_special_invoke(UnsafeRawPointer(bitPattern: WorkBlock.mark).unsafelyUnwrapped)
  QueueOffsets.publish()
  // Before the program's own handlers.
  ForkHandlers.install()
}()
