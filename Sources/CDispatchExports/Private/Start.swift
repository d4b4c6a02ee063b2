// Initialisation of the loaded library.
import CGrandCentralStorage

/// Initialises the library once. The loader calls it, and so do programs and libraries that may run
/// earlier.
@c(libdispatch_init)
public func libdispatchInit() { _ = start }

private let start: Void = {
  gc_set_block_special_invoke(UnsafeRawPointer(bitPattern: WorkBlock.mark).unsafelyUnwrapped)
  BlackBox.setBlockCaller(unsafeBitCast(Block.callAndRelease, to: UInt.self))
  QueueOffsets.publish()
  // Before the program registers handlers of its own.
  ForkHandlers.install()
  SwiftJobs.start()
}()
