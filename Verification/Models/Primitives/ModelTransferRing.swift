// Room: Platform/TransferRing, the models' side. A kernel that takes transfers of one byte. `Disk`
// says when a transfer completes: when it is taken, later by a disk's thread, or only by its
// cancellation. Each call is one step, a relaxed operation on one word. So the search tries the
// calls in every order, and they order nothing else. Not modelled: the memory that the real kernel
// shares, whose orderings Rings.c argues.
import CGrandCentralLinux

struct TransferRing: @unchecked Sendable {
  typealias Completion = gc_uring_completion
  static var noKey: UInt64 { .max }

  private enum Entry {
    case transfer(UInt64)
    case cancel(UInt64)
  }
  private final class Kernel: @unchecked Sendable {
    let word = Atomic<UInt32>(0)
    /// The number of signals that hear() has not consumed.
    let wakeDescriptor = Atomic<UInt32>(0)
    var entries: [Entry] = []
    var held: [UInt64] = []
    var completions: [Completion] = []
    var isSignalEnabled = true
  }

  enum Disk { case atOnce, later, never }

  let disk: Disk
  private let kernel = Kernel()

  private func step() { kernel.word.wrappingAdd(1, ordering: .relaxed) }

  // MARK: What the engine calls

  static var isInherited: Bool { false }
  static func make(entries: Int, wakeDescriptor: Int32) -> Result<TransferRing, SystemError> {
    .failure(SystemError(number: ENOSYS))
  }
  func free() {}
  func lose() {}

  func addRead(
    _ descriptor: Int32, into buffer: UnsafeMutablePointer<UInt8>, _ bytes: Int, at offset: Int64,
    key: UInt64, priority: IOPriority = .unset
  ) -> Bool {
    kernel.entries.append(.transfer(key))
    return true
  }

  func addWrite(
    _ descriptor: Int32, _ stretches: UnsafePointer<Transfer.Stretch>, _ count: Int,
    at offset: Int64, key: UInt64, priority: IOPriority = .unset
  ) -> Bool {
    kernel.entries.append(.transfer(key))
    return true
  }

  func addCancel(of key: UInt64) -> Bool {
    kernel.entries.append(.cancel(key))
    return true
  }

  /// Takes the entries. The kernel may refuse a cancellation for now. It never refuses a transfer:
  /// the engine would pass that to a worker, which would read the real file.
  func enter() -> RingEntered {
    step()
    while let next = kernel.entries.first {
      switch next {
      case .transfer(let key):
        switch disk {
        case .atOnce: complete(key, 1)
        case .later:
          kernel.held.append(key)
          Checker.spawn("disk") { completeHeld(key) }
        case .never: kernel.held.append(key)
        }
      case .cancel(let key):
        if kernel.entries.count == 1, Checker.mayRefuse() { return .someNotNow }
        if let place = kernel.held.firstIndex(of: key) {
          kernel.held.remove(at: place)
          complete(key, -ECANCELED)
        }
        complete(Self.noKey, 0)
      }
      kernel.entries.removeFirst()
    }
    return .all
  }

  func takeBack() -> UInt64? {
    guard let last = kernel.entries.popLast() else { return nil }
    guard case .transfer(let key) = last else { return Self.noKey }
    return key
  }

  func next() -> Completion? {
    step()
    return kernel.completions.isEmpty ? nil : kernel.completions.removeFirst()
  }

  func enableWakeDescriptor(_ enables: Bool) {
    step()
    kernel.isSignalEnabled = enables
  }

  // MARK: What models call

  /// Sleeps until the wake-up descriptor is signalled. Returns false after 10 s of virtual time.
  func hear() -> Bool {
    let end = Deadline.monotonic(nanoseconds: Checker.nanoseconds + 10_000_000_000)
    while kernel.wakeDescriptor.exchange(0, ordering: .relaxed) == 0 {
      if futexWait(kernel.wakeDescriptor, while: 0, until: end) == .timedOut { return false }
    }
    return true
  }

  private func completeHeld(_ key: UInt64) {
    step()
    guard let place = kernel.held.firstIndex(of: key) else { return }
    kernel.held.remove(at: place)
    complete(key, 1)
  }

  private func complete(_ key: UInt64, _ result: Int32) {
    kernel.completions.append(Completion(key: key, result: result))
    guard kernel.isSignalEnabled else { return }
    kernel.wakeDescriptor.wrappingAdd(1, ordering: .relaxed)
    futexWake(kernel.wakeDescriptor)
  }
}
