// Room: Queues/Specifics. Values that code finds by asking the queue it runs on.
// A lane's table is made at the first setSpecific() and lives as long as the lane. The key is kept with the
// value, so that an address is not taken for another key's.

/// Names a value of type `T` on queues.
///
/// - Source: Apple, Dispatch, `DispatchSpecificKey`.
public final class DispatchSpecificKey<T>: Sendable {
  public init() {}
}

/// A key as the table compares it: the address of an object, which its entry keeps, or a C program's, which nothing
/// need be at.
private struct SpecificKey: Equatable {
  let address: UInt
  let isOfC: Bool

  init(_ key: AnyObject) {
    address = UInt(bitPattern: Unmanaged.passUnretained(key).toOpaque())
    isOfC = false
  }

  init(_ key: UnsafeRawPointer) {
    address = UInt(bitPattern: key)
    isOfC = true
  }
}

/// A value under a key. The value lives in memory of its own, of the key's type; a generic box object
/// would have its class looked up by name at every access. A C program's value is its pointer itself.
private struct SpecificEntry {
  let key: SpecificKey
  private let keptKey: AnyObject?
  let value: UnsafeMutableRawPointer
  let destroy: (UnsafeMutableRawPointer) -> Void

  /// The destructor is called on the default global queue.
  init(key: UnsafeRawPointer, value: UnsafeMutableRawPointer, destructor: WorkFunction?) {
    self.key = SpecificKey(key)
    keptKey = nil
    self.value = value
    destroy = { value in
      guard let destructor else { return }
      let thread = currentThread()
      Runtime.shared.root(.default).submit(.function(destructor, value, on: thread), from: thread)
    }
  }

  init<T>(key: DispatchSpecificKey<T>, value: T) {
    self.key = SpecificKey(key)
    keptKey = key
    let memory = UnsafeMutablePointer<T>.allocate(capacity: 1)
    memory.initialize(to: value)
    self.value = UnsafeMutableRawPointer(memory)
    destroy = { raw in
      let memory = raw.assumingMemoryBound(to: T.self)
      memory.deinitialize(count: 1)
      memory.deallocate()
    }
  }
}

private final class SpecificTable {
  let lock = Lock()
  /// Guarded by the lock. Few queues have more than a handful. Only ever replaced as a whole: accesses that are one
  /// load or one store need no check of their exclusivity when the program runs.
  @Cell var entries: [SpecificEntry] = []

  deinit {
    for entry in $entries { entry.destroy(entry.value) }
  }

  /// Where the value of `key` is, with the lock held if there is one.
  func find(_ key: SpecificKey) -> UnsafeMutableRawPointer? {
    lock.lock()
    // By index: a loop over the elements would retain each key.
    for index in 0..<entries.count where entries[index].key == key {
      return entries[index].value
    }
    lock.unlock()
    return nil
  }

  /// Returns what was there before, for the caller to destroy outside the lock: a value's deinit may
  /// ask for specifics itself.
  func replace(_ key: SpecificKey, by entry: SpecificEntry?) -> SpecificEntry? {
    lock.lock()
    defer { lock.unlock() }
    var changed = entries
    defer { entries = changed }
    guard let index = changed.firstIndex(where: { $0.key == key }) else {
      if let entry { changed.append(entry) }
      return nil
    }
    guard let entry else { return changed.remove(at: index) }
    let old = changed[index]
    changed[index] = entry
    return old
  }
}

/// A value that was found, in a table whose lock is held until unlock(): nobody replaces it meanwhile. The
/// search knows nothing of the value's type, so that only the copy is generic, in the caller's module.
@usableFromInline
struct FoundSpecific {
  @usableFromInline let value: UnsafeMutableRawPointer
  fileprivate let table: UnsafeRawPointer

  @usableFromInline
  func unlock() {
    // SAFETY: as in findSpecific().
    Unmanaged<SpecificTable>.fromOpaque(table)._withUnsafeGuaranteedRef { $0.lock.unlock() }
  }

  /// On the innermost lane that the thread is on, or the nearest of its targets.
  @usableFromInline
  static func onCurrentQueue(_ key: AnyObject) -> FoundSpecific? {
    onCurrentQueue(SpecificKey(key))
  }

  fileprivate static func onCurrentQueue(_ key: SpecificKey) -> FoundSpecific? {
    let thread = currentThread()
    guard let current = Frames(thread: thread).address else {
      // The main thread is on the main queue even between two of its items. Other threads are on
      // none, and ask nothing of the engine.
      guard thread.pointee.is_main else { return nil }
      // SAFETY: the main queue lives as long as the engine.
      return Runtime.shared.mainReference._withUnsafeGuaranteedRef { $0.findSpecific(key) }
    }
    var next: Unmanaged<Lane>? = .fromOpaque(current)
    while let lane = next {
      // SAFETY: a lane is held while its frame stands, and so are the targets above it.
      if let found = lane._withUnsafeGuaranteedRef({ $0.findSpecific(key) }) { return found }
      next = lane._withUnsafeGuaranteedRef { $0.targetReference }
    }
    return nil
  }
}

extension Lane {
  /// Where this lane's value of `key` is; its table's lock is then held.
  fileprivate final func findSpecific(_ key: SpecificKey) -> FoundSpecific? {
    // acquiring: pairs with the exchange that put the table there.
    let address = specifics.load(ordering: .acquiring)
    guard let raw = UnsafeRawPointer(bitPattern: address) else { return nil }
    // SAFETY: the table lives as long as the lane, which the caller holds.
    let table = Unmanaged<SpecificTable>.fromOpaque(raw)
    return table._withUnsafeGuaranteedRef { $0.find(key) }
      .map { FoundSpecific(value: $0, table: raw) }
  }

  fileprivate final func setSpecific<T>(_ key: DispatchSpecificKey<T>, _ value: T?) {
    let entry = value.map { SpecificEntry(key: key, value: $0) }
    if let old = specificTable().replace(SpecificKey(key), by: entry) { old.destroy(old.value) }
  }

  fileprivate final func specificTable() -> SpecificTable {
    let made = Unmanaged.passRetained(SpecificTable())
    let (won, existing) = specifics.compareExchange(
      expected: 0, desired: UInt(bitPattern: made.toOpaque()),
      successOrdering: .releasing, failureOrdering: .acquiring)
    if won { return made.takeUnretainedValue() }
    made.release()
    // SAFETY: not zero, or the exchange had won.
    let raw = UnsafeRawPointer(bitPattern: existing).unsafelyUnwrapped
    return Unmanaged<SpecificTable>.fromOpaque(raw).takeUnretainedValue()
  }

  /// At the lane's death.
  final func releaseSpecifics() {
    // relaxed: whoever drops the last reference has all uses behind it.
    guard let raw = UnsafeRawPointer(bitPattern: specifics.load(ordering: .relaxed)) else { return }
    Unmanaged<SpecificTable>.fromOpaque(raw).release()
  }
}

extension DispatchQueue {
  /// The value that the current queue, or the nearest of its targets, has for `key`.
  ///
  /// - Returns: `nil` when none has one, or when the caller is on no queue.
  /// - Source: Apple, Dispatch, `DispatchQueue.getSpecific(key:)`.
  @inlinable
  public class func getSpecific<T>(key: DispatchSpecificKey<T>) -> T? {
    guard let found = FoundSpecific.onCurrentQueue(key) else { return nil }
    defer { found.unlock() }
    // SAFETY: a key's type is its value's.
    return found.value.assumingMemoryBound(to: T.self).pointee
  }

  /// The value that this queue itself has for `key`. Any thread.
  public final func getSpecific<T>(key: DispatchSpecificKey<T>) -> T? {
    guard let found = findSpecific(SpecificKey(key)) else { return nil }
    defer { found.unlock() }
    // SAFETY: as above.
    return found.value.assumingMemoryBound(to: T.self).pointee
  }

  /// Gives this queue a value for `key`, or takes it away with `nil`. Any thread.
  ///
  /// The old value is released before this returns; the last one when the queue dies.
  public final func setSpecific<T>(key: DispatchSpecificKey<T>, value: T?) {
    setSpecific(key, value)
  }
}

// MARK: For C programs, whose keys are addresses and whose values are pointers

extension DispatchQueue {
  /// The value of the current queue, or of the nearest of its targets that has one.
  package static func currentSpecific(_ key: UnsafeRawPointer) -> UnsafeMutableRawPointer? {
    guard let found = FoundSpecific.onCurrentQueue(SpecificKey(key)) else { return nil }
    defer { found.unlock() }
    return found.value
  }

  /// The value of this queue itself.
  package final func specific(_ key: UnsafeRawPointer) -> UnsafeMutableRawPointer? {
    guard let found = findSpecific(SpecificKey(key)) else { return nil }
    defer { found.unlock() }
    return found.value
  }

  /// `nil` takes the value away. The destructor is called with the value, when another takes its place or the
  /// queue dies, on the default global queue.
  package final func setSpecific(
    _ key: UnsafeRawPointer, _ value: UnsafeMutableRawPointer?, destructor: WorkFunction?
  ) {
    let entry = value.map { SpecificEntry(key: key, value: $0, destructor: destructor) }
    if let old = specificTable().replace(SpecificKey(key), by: entry) { old.destroy(old.value) }
  }
}
