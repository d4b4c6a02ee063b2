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

private final class SpecificTable {
  let lock = Lock()
  /// Guarded by the lock. Few queues have more than a handful.
  var entries: [(key: AnyObject, value: AnyObject)] = []
}

private final class SpecificValue<T> {
  let value: T
  init(_ value: T) { self.value = value }
}

extension Lane {
  fileprivate final func specific<T>(_ key: DispatchSpecificKey<T>) -> T? {
    // acquiring: pairs with the exchange that put the table there.
    let address = specifics.load(ordering: .acquiring)
    guard let raw = UnsafeRawPointer(bitPattern: address) else { return nil }
    // SAFETY: the table lives as long as the lane, which the caller holds.
    let table = Unmanaged<SpecificTable>.fromOpaque(raw).takeUnretainedValue()
    return table.lock.withLock {
      for entry in table.entries where entry.key === key {
        return unsafeDowncast(entry.value, to: SpecificValue<T>.self).value
      }
      return nil
    }
  }

  fileprivate final func setSpecific<T>(_ key: DispatchSpecificKey<T>, _ value: T?) {
    let table = specificTable()
    let box = value.map(SpecificValue.init)
    // The old value dies outside the lock: its deinit may ask for specifics itself.
    var old: AnyObject?
    table.lock.withLock {
      if let index = table.entries.firstIndex(where: { $0.key === key }) {
        old = table.entries[index].value
        if let box { table.entries[index].value = box } else { table.entries.remove(at: index) }
      } else if let box {
        table.entries.append((key, box))
      }
    }
    withExtendedLifetime(old) {}
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
