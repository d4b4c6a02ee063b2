// Room: Primitives/ThreadRegistry and ThreadStart, the models' side. A context for each thread of a
// model. A thread begins with a few nodes in its cache, so that models of other parts never take
// the depot's lock. The models of the depot empty the caches first.
import CGrandCentralLinux

@inline(__always)
public func currentThread() -> ThreadContext { ModelThreads.context(Checker.thread) }

public func spinHint() {}
public func fetchForWriting(_ address: UnsafeRawPointer) {}

public enum ModelThreads {
  static var count: Int { 8 }
  /// The number of nodes in a new thread's cache. The thread can receive as many again before it
  /// exceeds `NodeCache.maxKept` and gives a chain away.
  static var nodesEach: Int { 2 * NodeCache.chainLength }
  nonisolated(unsafe) private static let contexts = makeContexts()
  nonisolated(unsafe) private static let region: NodeRegion = {
    guard let region = NodeRegion() else { fatalError("There is no memory for nodes.") }
    return region
  }()
  /// The nodes of all threads, in the order of the threads: all pages behind the region's header.
  private static var nodes: UnsafeMutableRawPointer {
    region.start + NodeRegion.headerNodes * WorkNode.bytes
  }

  private static func makeContexts() -> UnsafeMutablePointer<ThreadContext> {
    let contexts = UnsafeMutablePointer<ThreadContext>.allocate(capacity: count)
    for number in 0..<count {
      let memory = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 64)
      let thread = memory.bindMemory(to: gc_thread.self, capacity: 1)
      thread.initialize(to: gc_thread())
      gc_items_hide(thread)
      thread.pointee.shared = Unmanaged.passRetained(ThreadShared()).toOpaque()
      thread.beginFrames()
      (contexts + number).initialize(to: thread)
    }
    return contexts
  }

  @inline(__always)
  static func context(_ number: Int) -> ThreadContext { contexts[number] }

  /// Resets all threads. Runs before the scene of each execution is set.
  static func reset() {
    ThreadRegistry.mainThread = nil
    ModelKernel.reset()
    // An execution that ended in a deadlock leaves its waiters registered, and its report.
    Lane.hierarchyLock.waiters = []
    Lane.hierarchyLock.isReported = false
    // As the kernel has provided it, whatever a mutant has left there.
    memset(region.start, 0, nodes - region.start)
    for number in 0..<count {
      let thread = contexts[number]
      while let outer = thread.pointee.frame?.pointee.previous { thread.pointee.frame = outer }
      let (frame, shared) = (thread.pointee.frame, thread.pointee.shared)
      thread.pointee = gc_thread()
      gc_items_hide(thread)
      thread.pointee.frame = frame
      thread.pointee.shared = shared
      thread.shared.waitsFor = nil
      thread.pointee.tid = UInt32(1000 + number)
      // Links the nodes directly, as plain memory: no thread has seen them yet.
      let first = nodes + number * nodesEach * WorkNode.bytes
      for place in 0..<nodesEach {
        let node = first + place * WorkNode.bytes
        let next = place + 1 < nodesEach ? node + WorkNode.bytes : nil
        node.storeBytes(of: next, as: UnsafeMutableRawPointer?.self)
      }
      thread.pointee.nodes = first
      thread.pointee.node_count = UInt32(nodesEach)
    }
  }

  /// Whether `node` is one of the nodes that threads begin with.
  static func owns(_ node: UnsafeMutableRawPointer) -> Bool {
    node >= nodes && node < nodes + count * nodesEach * WorkNode.bytes
  }

  /// Fails if a thread is still boosted above the class that it applied.
  static func expectNoThreadRaised() {
    for number in 0..<count {
      let thread = contexts[number]
      Checker.expect(
        thread.effectivePriority == thread.pointee.applied,
        "a thread was left raised to \(thread.effectivePriority) from \(thread.pointee.applied)")
    }
  }

  /// Fails unless every node is in some thread's cache.
  static func expectAllNodesBack() {
    var found = 0
    for number in 0..<count { found += Int(contexts[number].pointee.node_count) }
    Checker.expect(
      found == count * nodesEach, "work nodes that were lost: \(count * nodesEach - found)")
  }
}

public enum ThreadRegistry {
  public static func setExitHandler(_ handler: @escaping @Sendable (ThreadContext) -> Void) {}
  public static func setFirstExitHandler(_ handler: @escaping @Sendable (ThreadContext) -> Void) {
  }
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

public func nameThread(_ name: ThreadName) {}
public func setProgramMask(_ mask: UInt64) {}

public func withAmpleStack(_ body: () -> Void) { body() }
