// Room: Queues/Specifics. Values that code reads from the queue it runs on.
// A lane's table is made for its first value and lives as long as the lane. An entry keeps
// its key alive, so no other key can have the same address.

/// A key for a value of type `T` on queues.
///
/// - Source: Apple, Dispatch, `DispatchSpecificKey`.
public final class DispatchSpecificKey<T>: Sendable {
  /// Creates a key that differs from all others.
  ///
  /// - Source: Apple, Dispatch, `DispatchSpecificKey.init()`.
  public init() {}
}

/// A key as the table compares it. It is the address of an object, which the entry keeps alive, or
/// an address that a C program chose, which need not be valid memory.
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

/// A value and its key. The value lives in memory of its own, of the key's type; with a generic box
/// object, each access would look up its class by name. The value of a C program is its pointer.
private struct SpecificEntry {
  let key: SpecificKey
  private let keptKey: AnyObject?
  let value: UnsafeMutableRawPointer
  let destroy: (UnsafeMutableRawPointer) -> Void

  /// Creates a C program's entry. The destructor is called on the default global queue.
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

final class SpecificTable {
  /// Makes the types known that an entry takes: see Primitives/AmpleStack.
  static func meetTypes() {
    var entries: [SpecificEntry] = []
    entries.reserveCapacity(1)
  }

  fileprivate let lock = Lock()
  /// Guarded by the lock. Few queues have more than a handful. Only replaced as a whole: an access
  /// that is one load or one store needs no exclusivity check at run time.
  @Cell fileprivate var entries: [SpecificEntry] = []

  deinit {
    for entry in $entries { entry.destroy(entry.value) }
  }

  /// Returns the address of the value of `key` and leaves the lock held, if there is one.
  fileprivate func find(_ key: SpecificKey) -> UnsafeMutableRawPointer? {
    lock.lock()
    // By index: a loop over the elements would retain each key.
    for index in 0..<entries.count where entries[index].key == key {
      return entries[index].value
    }
    lock.unlock()
    return nil
  }

  /// Replaces an entry and returns the old entry. The caller destroys it outside the lock, because
  /// a value's deinit may read specifics itself.
  fileprivate func replace(_ key: SpecificKey, by entry: SpecificEntry?) -> SpecificEntry? {
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

/// A value that was found. The table's lock is held until unlock(), so no thread replaces the value
/// meanwhile. The search is independent of the value's type, so only the copy is generic, in the
/// caller's module.
@usableFromInline
struct FoundSpecific {
  @usableFromInline let value: UnsafeMutableRawPointer
  fileprivate let table: UnsafeRawPointer

  @usableFromInline
  func unlock() {
    // SAFETY: as in findSpecific().
    Unmanaged<SpecificTable>.fromOpaque(table)._withUnsafeGuaranteedRef { $0.lock.unlock() }
  }

  /// Finds the value on the thread's innermost lane, or on the nearest of its targets.
  @usableFromInline
  static func onCurrentQueue(_ key: AnyObject) -> FoundSpecific? {
    onCurrentQueue(SpecificKey(key))
  }

  fileprivate static func onCurrentQueue(_ key: SpecificKey) -> FoundSpecific? {
    let thread = currentThread()
    guard let current = Frames(thread: thread).address else {
      // The main thread is on the main queue even between two of its items. Other threads without a
      // frame are on no queue, and the engine is not started for them.
      guard thread.pointee.is_main else { return nil }
      // SAFETY: the main queue lives as long as the engine.
      return Runtime.shared.mainReference._withUnsafeGuaranteedRef { $0.findSpecific(key) }
    }
    var next: Unmanaged<Lane>? = .fromOpaque(current)
    while let lane = next {
      // SAFETY: a lane is held while its frame stands, and so are its targets.
      if let found = lane._withUnsafeGuaranteedRef({ $0.findSpecific(key) }) { return found }
      next = lane._withUnsafeGuaranteedRef { $0.targetReference }
    }
    return nil
  }
}

extension Lane {
  /// Finds this lane's value of `key` and leaves the table's lock held, if there is one.
  fileprivate final func findSpecific(_ key: SpecificKey) -> FoundSpecific? {
    // acquiring: pairs with the exchange that stored the table.
    let address = specifics.load(ordering: .acquiring)
    guard let raw = UnsafeRawPointer(bitPattern: address) else { return nil }
    // SAFETY: the table lives as long as the lane, which the caller keeps alive.
    let table = Unmanaged<SpecificTable>.fromOpaque(raw)
    return table._withUnsafeGuaranteedRef { $0.find(key) }
      .map { FoundSpecific(value: $0, table: raw) }
  }

  /// Sets or removes the value of `key`, and destroys the old one.
  fileprivate final func setSpecific(_ key: SpecificKey, _ entry: SpecificEntry?) {
    // Without a table there is no value to remove.
    guard let table = specificTable(makingIfAbsent: entry != nil) else { return }
    if let old = table.replace(key, by: entry) { old.destroy(old.value) }
  }

  private final func specificTable(makingIfAbsent makes: Bool) -> SpecificTable? {
    // acquiring: as in findSpecific().
    var address = specifics.load(ordering: .acquiring)
    if address == 0 {
      guard makes else { return nil }
      let made = Unmanaged.passRetained(SpecificTable())
      let (won, existing) = specifics.compareExchange(
        expected: 0, desired: UInt(bitPattern: made.toOpaque()),
        successOrdering: .releasing, failureOrdering: .acquiring)
      if won { return made.takeUnretainedValue() }
      // Another thread has made one meanwhile.
      made.release()
      address = existing
    }
    // SAFETY: not zero; the table lives as long as the lane.
    let raw = UnsafeRawPointer(bitPattern: address).unsafelyUnwrapped
    return Unmanaged<SpecificTable>.fromOpaque(raw).takeUnretainedValue()
  }

  /// Releases the table when the queue is destroyed.
  final func releaseSpecifics() {
    // relaxed: the release of the last reference comes after all uses.
    guard let raw = UnsafeRawPointer(bitPattern: specifics.load(ordering: .relaxed)) else { return }
    Unmanaged<SpecificTable>.fromOpaque(raw).release()
  }
}

extension DispatchQueue {
  /// Returns the value for `key` of the current queue or the nearest target that has one.
  ///
  /// Call from any thread.
  ///
  /// - Parameter key: the key of the value.
  /// - Returns: `nil` if none of these queues has a value, or if the caller is on no queue.
  /// - Source: Apple, Dispatch, `DispatchQueue.getSpecific(key:)`.
  @inlinable
  public class func getSpecific<T>(key: DispatchSpecificKey<T>) -> T? {
    guard let found = FoundSpecific.onCurrentQueue(key) else { return nil }
    defer { found.unlock() }
    // SAFETY: a value has the type of its key.
    return found.value.assumingMemoryBound(to: T.self).pointee
  }

  /// Returns the value that this queue itself has for `key`.
  ///
  /// Call from any thread.
  ///
  /// - Parameter key: the key of the value.
  /// - Returns: `nil` if this queue has no value; its targets are not searched.
  /// - Source: Apple, Dispatch, `DispatchQueue.getSpecific(key:)`.
  public final func getSpecific<T>(key: DispatchSpecificKey<T>) -> T? {
    guard let found = findSpecific(SpecificKey(key)) else { return nil }
    defer { found.unlock() }
    // SAFETY: as above.
    return found.value.assumingMemoryBound(to: T.self).pointee
  }

  /// Sets or removes this queue's value for `key`.
  ///
  /// Call from any thread. The old value is released before this returns; the last value when
  /// the queue is destroyed.
  ///
  /// - Parameters:
  ///   - key: the key of the value.
  ///   - value: the new value; `nil` removes the old value.
  /// - Source: Apple, Dispatch, `DispatchQueue.setSpecific(key:value:)`.
  public final func setSpecific<T>(key: DispatchSpecificKey<T>, value: T?) {
    setSpecific(SpecificKey(key), value.map { SpecificEntry(key: key, value: $0) })
  }
}

// MARK: For C programs, whose keys are addresses and whose values are pointers

extension DispatchQueue {
  /// Returns the value of the current queue, or of the nearest of its targets that has one.
  package static func currentSpecific(_ key: UnsafeRawPointer) -> UnsafeMutableRawPointer? {
    guard let found = FoundSpecific.onCurrentQueue(SpecificKey(key)) else { return nil }
    defer { found.unlock() }
    return found.value
  }

  /// Returns the value of this queue itself.
  package final func specific(_ key: UnsafeRawPointer) -> UnsafeMutableRawPointer? {
    guard let found = findSpecific(SpecificKey(key)) else { return nil }
    defer { found.unlock() }
    return found.value
  }

  /// Sets the value, or removes it with `nil`. The destructor is called with the value, on the
  /// default global queue, when another value replaces it or the queue is destroyed.
  package final func setSpecific(
    _ key: UnsafeRawPointer, _ value: UnsafeMutableRawPointer?, destructor: WorkFunction?
  ) {
    setSpecific(
      SpecificKey(key), value.map { SpecificEntry(key: key, value: $0, destructor: destructor) })
  }
}
