// Room: Primitives/ThreadRegistry and ThreadStart, the models' side: a context for each thread of a model.
// A thread begins with a few nodes in its cache, so that models of other parts never come to the depot's
// lock; the model of the depot empties the cache first.
import CLinux

@inline(__always)
public func currentThread() -> ThreadContext { ModelThreads.context(Checker.thread) }

public func spinHint() {}

public enum ModelThreads {
  static let nodesEach = 8
  nonisolated(unsafe) private static let contexts: [ThreadContext] = (0..<8).map { number in
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 64)
    let thread = memory.bindMemory(to: gc_thread.self, capacity: 1)
    thread.initialize(to: gc_thread())
    thread.pointee.shared = Unmanaged.passRetained(ThreadShared()).toOpaque()
    return thread
  }
  nonisolated(unsafe) private static let nodes: [[WorkNode]] = (0..<8).map { _ in
    (0..<nodesEach).map { _ in
      WorkNode(.allocate(byteCount: WorkNode.bytes, alignment: WorkNode.bytes))
    }
  }

  static func context(_ number: Int) -> ThreadContext { contexts[number] }

  /// Makes all threads as new. Before each execution's scene is set.
  static func reset() {
    for number in 0..<contexts.count {
      let thread = contexts[number]
      let shared = thread.pointee.shared
      thread.pointee = gc_thread()
      thread.pointee.shared = shared
      thread.pointee.tid = UInt32(1000 + number)
      for node in nodes[number] { NodeCache.put(node, thread) }
    }
  }

  /// Fails unless every node is in some thread's cache.
  static func expectAllNodesBack() {
    let count = contexts.reduce(0) { $0 + Int($1.pointee.node_count) }
    let all = contexts.count * nodesEach
    Checker.expect(count == all, "\(all - count) work node(s) were lost")
  }
}

public enum ThreadRegistry {
  public static func setExitHandler(_ handler: @escaping @Sendable (ThreadContext) -> Void) {}
  /// The thread that a model chooses as its main thread.
  nonisolated(unsafe) public static var mainThread: ThreadContext?
  public static var isMainThread: Bool { currentThread() == mainThread }
}

public typealias ThreadBody = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?

public func startThread(
  _ body: ThreadBody, _ argument: UnsafeMutableRawPointer, stackBytes: Int
) -> Int32 {
  if Checker.mayRefuse() { return EAGAIN }
  Checker.spawn("worker", isDaemon: true) { _ = body(argument) }
  return 0
}

public func nameThread(_ name: String) {}
public func setBlockedSignals(_ mask: UInt64) {}
