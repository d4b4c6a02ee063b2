// Room: Primitives/ThreadStart. Making threads, and what a new one sets for itself.
import CLinux

public typealias ThreadBody = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?

/// Starts a detached thread with `stackBytes` of stack (0: the default), which inherits the caller's signal
/// mask. Returns 0 or an errno; EAGAIN: a limit on memory or on threads, pthread_create(3).
public func startThread(
  _ body: ThreadBody, _ argument: UnsafeMutableRawPointer, stackBytes: Int
) -> Int32 {
  gc_thread_spawn(body, argument, stackBytes)
}

/// Names the calling thread for ps, top and debuggers.
public func nameThread(_ name: ThreadName) { name.withCString { gc_thread_set_name($0) } }

/// Blocks exactly the signals whose bit (number - 1) is set, on the calling thread.
public func setBlockedSignals(_ mask: UInt64) { gc_thread_set_signal_mask(mask) }
