// Room: Primitives/ThreadRegistry and ThreadStart, the simulation's side. A context for each
// simulated thread.
import CGrandCentralLinux

@inline(__always)
public func currentThread() -> ThreadContext {
  Machine.tag.unsafelyUnwrapped.assumingMemoryBound(to: gc_thread.self)
}

public func spinHint() { Machine.current.compute(nanoseconds: Machine.current.costs.spinHint) }

/// Costs what a store costs: the read that follows waits for the line.
public func fetchForWriting(
  _ address: UnsafeRawPointer, file: StaticString = #fileID, line: UInt32 = #line
) {
  Machine.current.access(address, .store, Site(file, line))
}

public enum SimulatedThreads {
  /// The kernel's number of the first thread.
  static var firstID: UInt32 { 4_000_000 }
  nonisolated(unsafe) private static var made: UInt32 = 0

  static func makeContext() -> UnsafeMutableRawPointer {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 256, alignment: 128)
    let thread = memory.bindMemory(to: gc_thread.self, capacity: 1)
    thread.initialize(to: gc_thread())
    gc_items_hide(thread)
    thread.pointee.shared = Unmanaged.passRetained(ThreadShared()).toOpaque()
    thread.beginFrames()
    return memory
  }

  /// Makes a thread with a context, whose number is that of the simulator.
  static func spawn(isFree: Bool = false, _ body: @escaping () -> Void) {
    let context = makeContext()
    made += 1
    context.assumingMemoryBound(to: gc_thread.self).pointee.tid = firstID + made
    Machine.current.spawn(tag: context, isFree: isFree, body)
  }
}

public enum ThreadRegistry {
  public static func setExitHandler(_ handler: @escaping @Sendable (ThreadContext) -> Void) {}
  public static func setFirstExitHandler(_ handler: @escaping @Sendable (ThreadContext) -> Void) {
  }
  public static var mainThread: ThreadContext? { nil }
  public static var isMainThread: Bool { false }
}

public typealias ThreadBody = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?

public func startThread(
  _ body: ThreadBody, _ argument: UnsafeMutableRawPointer, stackBytes: Int
) -> Int32 {
  SimulatedThreads.spawn { _ = body(argument) }
  return 0
}

public func nameThread(_ name: ThreadName) {}
public func setProgramMask(_ mask: UInt64) {}

public func withAmpleStack(_ body: () -> Void) { body() }
