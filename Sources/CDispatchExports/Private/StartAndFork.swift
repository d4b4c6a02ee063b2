// What happens with the process: initialisation of the loaded library, and fork(2).
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

// MARK: fork(2)

// Handlers that the C library calls around it. Some programs call them around a process creation of
// their own. Extra calls do no harm: see Primitives/ForkGate.swift.

/// Closes the fork gate. Called before a fork, on the forking thread.
@c(dispatch_atfork_prepare)
public func dispatchAtForkPrepare() { ForkHandlers.prepare() }

/// Opens the fork gate again. Called after a fork, in the parent.
@c(dispatch_atfork_parent)
public func dispatchAtForkParent() { ForkHandlers.resumeParent() }

/// Resets the engine. Called after a fork, in the child.
@c(dispatch_atfork_child)
public func dispatchAtForkChild() { ForkHandlers.resumeChild() }

/// Whether this process is the child of a multithreaded process and must not use this library:
/// always false, see Docs/Fork.md.
@c(_dispatch_is_fork_of_multithreaded_parent)
public func dispatchIsForkOfMultithreadedParent() -> Bool { false }
