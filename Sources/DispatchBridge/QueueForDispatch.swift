import CGrandCentralLinux
// A queue of Dispatch whose items run on a queue of Grand Central.
// A queue for run loops is the one kind of queue of libdispatch whose items another program runs.
// A source of the engine waits for the descriptor that such a queue signals, on the queue of Grand
// Central, and its handler runs the items. libdispatch sends closures of dispatch_sync there too.
//   async or sync → run loop queue → its eventfd → read source → item of our queue → perform
public import Dispatch
import Glibc
public import GrandCentral
import GrandCentralCore

extension GrandCentral.DispatchQueue {
  /// Makes a queue of Dispatch that targets this queue of Grand Central.
  ///
  /// Pass it to interfaces that take Dispatch's type, such as Foundation's
  /// `OperationQueue.underlyingQueue`. Items of the new queue run as items of this queue: in their
  /// order, one at a time, and never beside another item of this queue, if this queue is serial.
  /// That holds for `sync` too, whose closure runs on the thread that runs this queue's items while
  /// the caller waits. Suspending either queue holds the items back; preconditions of both
  /// libraries see both queues. Call from any thread.
  ///
  /// A `sync` onto the new queue from an item of this queue waits for itself for ever: the two
  /// libraries do not see each other's waits. Items that submit the next one to the new queue keep
  /// this queue, as on a target in Dispatch: a queue is left when it is empty. Items run at the
  /// class of this queue. If both libraries are one engine, as in a program that embeds
  /// `GrandCentralDropIn`, none of this holds: the new queue is an ordinary queue whose target is
  /// this one.
  ///
  /// - Parameter label: the new queue's name.
  /// - Returns: a serial queue. It keeps this one.
  /// - Important: Stops the process if its Dispatch is neither the toolchain's library nor
  ///   this engine, or if the system refuses descriptors.
  /// - Source: `dispatch_queue_create_with_target(3)`.
  public func makeDispatchQueue(label: String) -> Dispatch.DispatchQueue {
    // The toolchain's library sets a target only before the activation.
    let made = Dispatch.DispatchQueue(label: label, attributes: .initiallyInactive)
    defer { made.activate() }
    if Engine.isShared {
      Engine.queue(behind: made).setTarget(queue: self)
    } else {
      let end = RunLoopEnd(label: label)
      gc_bridge_set_target(Engine.object(of: made), end.object)
      made.setSpecific(key: Performance.key, value: Performance(of: end, on: self))
    }
    return made
  }
}

/// Performs a run loop queue's items on a queue, for as long as the object lives: until the queue
/// of Dispatch that has it as a value is destroyed.
private final class Performance: Sendable {
  static let key = Dispatch.DispatchSpecificKey<Performance>()
  /// After so many calls the queue's other items have a turn. A call runs a queue of the other
  /// library until it is empty: that is its way.
  private static let quota = 64
  private let source: any DispatchSourceRead

  init(of end: RunLoopEnd, on queue: GrandCentral.DispatchQueue) {
    source = GrandCentral.DispatchSource.makeReadSource(
      fileDescriptor: end.descriptor, queue: queue)
    source.setEventHandler {
      // Read before the items are run: a signal for an item that comes meanwhile stays.
      end.takeSignal()
      for _ in 0..<Self.quota { if !gc_bridge_perform(end.object) { return } }
      end.signal()
    }
    // The last release closes the descriptor, so it comes after the source has let go of it.
    source.setCancelHandler { gc_bridge_release(end.object) }
    source.activate()
  }

  deinit { source.cancel() }
}

/// A run loop queue of the process's libdispatch, and the eventfd(2) that it signals.
// SAFETY: both are constants; the functions that use them may be called from any thread.
private struct RunLoopEnd: @unchecked Sendable {
  let object: UnsafeMutableRawPointer
  let descriptor: Int32

  init(label: String) {
    guard let made = RunLoopThread.shared.make() else {
      clientFault("libdispatch refuses queue '\(label)', a queue for run loops.")
    }
    object = made
    // The header of each object of libdispatch: table, counts, next, target, context. A run loop
    // queue's context is its descriptor plus one.
    let context = made.load(fromByteOffset: 4 * MemoryLayout<UInt>.size, as: UInt.self)
    descriptor = Int32(truncatingIfNeeded: Int(bitPattern: context) - 1)
    guard context == UInt(UInt32(bitPattern: descriptor)) + 1, Self.announcesItems(self) else {
      clientFault(
        "Queue '\(label)' cannot be made for the libdispatch of this process, which shows no "
          + "descriptor for run loops. Embed GrandCentralDropIn: then both libraries are one.")
    }
  }

  func takeSignal() {
    var count: UInt64 = 0
    _ = read(descriptor, &count, 8)
  }

  func signal() {
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
  }

  /// Whether the descriptor is an eventfd that becomes readable when an item is submitted. The
  /// position of the descriptor is no promise of the library, so each queue is tried.
  private static func announcesItems(_ end: RunLoopEnd) -> Bool {
    var name = [UInt8](repeating: 0, count: 64)
    let count = readlink(
      "/proc/self/fd/\(end.descriptor)", &name, name.count)
    guard count > 0, String(decoding: name[..<count], as: UTF8.self) == "anon_inode:[eventfd]",
      !end.isSignalled
    else { return false }
    gc_bridge_async(end.object, nil) { _ in }
    guard end.isSignalled else { return false }
    end.takeSignal()
    while gc_bridge_perform(end.object) {}
    return true
  }

  private var isSignalled: Bool {
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return Glibc.poll(&poll, 1, 0) == 1 && poll.revents & Int16(POLLIN) != 0
  }
}

/// The thread that creates all run loop queues. libdispatch binds such a queue to the creating
/// thread, and stops the process when that thread calls dispatch_sync on the queue. So no thread of
/// the program may be it, nor a later one with the same kernel id: the thread never ends.
// SAFETY: the queue orders all calls of make(); the semaphores order the two threads' accesses.
private final class RunLoopThread: @unchecked Sendable {
  static let shared = RunLoopThread()
  private let calls = GrandCentral.DispatchQueue(label: "grandcentral.bridge")
  private let asked = GrandCentral.DispatchSemaphore(value: 0)
  private let answered = GrandCentral.DispatchSemaphore(value: 0)
  private var made: UnsafeMutableRawPointer?

  private init() {
    let failure = gc_thread_spawn(
      { argument in
        let owner = Unmanaged<RunLoopThread>.fromOpaque(argument!).takeUnretainedValue()
        while true { owner.answer() }
      }, Unmanaged.passRetained(self).toOpaque(), 0)
    if failure != 0 {
      clientFault(
        "No thread for makeDispatchQueue(label:): "
          + "\(String(cString: strerror(failure))). Raise the limit of threads.")
    }
  }

  func make() -> UnsafeMutableRawPointer? {
    calls.sync {
      asked.signal()
      answered.wait()
      return made
    }
  }

  private func answer() {
    asked.wait()
    // The library keeps the pointer. Users see the label of the queue that targets this one.
    let label: StaticString = "grandcentral.bridge"
    made = label.withUTF8Buffer { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        gc_bridge_make_run_loop_queue($0.baseAddress.unsafelyUnwrapped, 0)
      }
    }
    answered.signal()
  }
}
