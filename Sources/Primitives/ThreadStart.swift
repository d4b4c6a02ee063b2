// Room: Primitives/ThreadStart. Starts threads, and names the calling one.
import CGrandCentralLinux

public typealias ThreadBody = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?

/// Starts a detached thread that blocks all signals from outside (CLinux/Masks.c). `stackBytes` is
/// the size of its stack in bytes; 0 selects the default. Returns 0 or an errno. EAGAIN: a limit on
/// memory or threads, pthread_create(3).
public func startThread(
  _ body: ThreadBody, _ argument: UnsafeMutableRawPointer, stackBytes: Int
) -> Int32 {
  gc_thread_spawn(body, argument, stackBytes)
}

/// Sets the name of the calling thread, as shown by ps, top and debuggers.
public func nameThread(_ name: ThreadName) { name.withCString { gc_thread_set_name($0) } }

/// Sets the program's signal mask, which children of the engine's threads get: bit (number - 1)
/// blocks a signal.
public func setProgramMask(_ mask: UInt64) { gc_set_program_mask(mask) }
