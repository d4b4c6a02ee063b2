// Room: Queues/Specifics. Values that code finds by asking the queue it runs on.
// A lane's table is made at the first setSpecific() and lives as long as the lane. The key is kept with the
// value, so that an address is not taken for another key's.
import Primitives

/// Names a value of type `T` on queues.
///
/// - Source: Apple, Dispatch, `DispatchSpecificKey`.
public final class DispatchSpecificKey<T>: Sendable {
  public init() {}
}

/// A value under a key. The value lives in memory of its own, of the key's type; a generic box object
/// would have its class looked up by name at every access.
private struct SpecificEntry {
  let key: AnyObject
  let value: UnsafeMutableRawPointer
  let destroy: (UnsafeMutableRawPointer) -> Void

  init<T>(key: DispatchSpecificKey<T>, value: T) {
    self.key = key
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
  /// Guarded by the lock. Few queues have more than a handful.
  var entries: [SpecificEntry] = []

  deinit {
    for entry in entries { entry.destroy(entry.value) }
  }

  func value<T>(_ key: DispatchSpecificKey<T>) -> T? {
    lock.lock()
    defer { lock.unlock() }
    guard let index = place(of: key) else { return nil }
    // SAFETY: a key's type is its entry's.
    return entries[index].value.assumingMemoryBound(to: T.self).pointee
  }

  /// Returns what was there before, for the caller to destroy outside the lock: a value's deinit may
  /// ask for specifics itself.
  func replace(_ key: AnyObject, by entry: SpecificEntry?) -> SpecificEntry? {
    lock.lock()
    defer { lock.unlock() }
    guard let index = place(of: key) else {
      if let entry { entries.append(entry) }
      return nil
    }
    guard let entry else { return entries.remove(at: index) }
    let old = entries[index]
    entries[index] = entry
    return old
  }

  private func place(of key: AnyObject) -> Int? { entries.firstIndex { $0.key === key } }
}

extension Lane {
  fileprivate final func specific<T>(_ key: DispatchSpecificKey<T>) -> T? {
    // acquiring: pairs with the exchange that put the table there.
    let address = specifics.load(ordering: .acquiring)
    guard let raw = UnsafeRawPointer(bitPattern: address) else { return nil }
    // SAFETY: the table lives as long as the lane, which the caller holds.
    return Unmanaged<SpecificTable>.fromOpaque(raw)._withUnsafeGuaranteedRef { $0.value(key) }
  }

  fileprivate final func setSpecific<T>(_ key: DispatchSpecificKey<T>, _ value: T?) {
    let entry = value.map { SpecificEntry(key: key, value: $0) }
    if let old = specificTable().replace(key, by: entry) { old.destroy(old.value) }
  }

  private final func specificTable() -> SpecificTable {
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
    guard let raw = UnsafeRawPointer(bitPattern: specifics.load(ordering: .acquiring)) else {
      return
    }
    Unmanaged<SpecificTable>.fromOpaque(raw).release()
  }
}

extension DispatchQueue {
  /// The value that the current queue, or the nearest of its targets, has for `key`.
  ///
  /// - Returns: `nil` when none has one, or when the caller is on no queue.
  /// - Source: Apple, Dispatch, `DispatchQueue.getSpecific(key:)`.
  public class func getSpecific<T>(key: DispatchSpecificKey<T>) -> T? {
    let thread = currentThread()
    guard let current = Frames.innermost(thread) else {
      // The main thread is on the main queue even between two of its items.
      let main = Runtime.shared.main
      return main.isBoundTo(thread) ? main.specific(key) : nil
    }
    for lane in current.hierarchy {
      if let value = lane.specific(key) { return value }
    }
    return nil
  }

  /// The value that this queue itself has for `key`. Any thread.
  public final func getSpecific<T>(key: DispatchSpecificKey<T>) -> T? { specific(key) }

  /// Gives this queue a value for `key`, or takes it away with `nil`. Any thread.
  ///
  /// The old value is released before this returns; the last one when the queue dies.
  public final func setSpecific<T>(key: DispatchSpecificKey<T>, value: T?) {
    setSpecific(key, value)
  }
}
