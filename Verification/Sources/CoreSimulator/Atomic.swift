// Room: CoreSimulator/Atomic. The standard library's Atomic, under the same name, on the simulated
// machine. It has the size, alignment and address of the real one, so words that share a cache line
// in the engine share one here. All threads are fibers of one thread, so an access is plain memory
// and what it costs. Memory is sequentially consistent; orderings are ignored.
import struct Synchronization.Atomic
@_exported public import protocol Synchronization.AtomicRepresentable

public struct AtomicLoadOrdering: Sendable {
  public static var relaxed: Self { Self() }
  public static var acquiring: Self { Self() }
  public static var sequentiallyConsistent: Self { Self() }
}

public struct AtomicStoreOrdering: Sendable {
  public static var relaxed: Self { Self() }
  public static var releasing: Self { Self() }
  public static var sequentiallyConsistent: Self { Self() }
}

public struct AtomicUpdateOrdering: Sendable {
  public static var relaxed: Self { Self() }
  public static var acquiring: Self { Self() }
  public static var releasing: Self { Self() }
  public static var acquiringAndReleasing: Self { Self() }
  public static var sequentiallyConsistent: Self { Self() }
}

public struct Atomic<Value: AtomicRepresentable>: ~Copyable, @unchecked Sendable {
  private let storage: Synchronization.Atomic<Value>

  public init(_ value: consuming Value) { storage = Synchronization.Atomic(value) }

  /// The address of the word, on which threads may sleep.
  public var address: UnsafeMutableRawPointer {
    withUnsafePointer(to: storage) { UnsafeMutableRawPointer(mutating: UnsafeRawPointer($0)) }
  }

  private var plain: Value {
    get { Value.decodeAtomicRepresentation(address.load(as: Value.AtomicRepresentation.self)) }
    nonmutating set {
      address.storeBytes(
        of: Value.encodeAtomicRepresentation(newValue), as: Value.AtomicRepresentation.self)
    }
  }

  /// The value as an integer: every atomic value is trivial and at most eight bytes long.
  private func bits(_ value: Value) -> UInt64 {
    var bits: UInt64 = 0
    withUnsafeMutableBytes(of: &bits) {
      $0.storeBytes(
        of: Value.encodeAtomicRepresentation(value), as: Value.AtomicRepresentation.self)
    }
    return bits
  }

  public func load(
    ordering: AtomicLoadOrdering, file: StaticString = #fileID, line: UInt32 = #line
  ) -> Value {
    Machine.current.access(address, .load, Site(file, line))
    return plain
  }

  public func store(
    _ desired: consuming Value, ordering: AtomicStoreOrdering, file: StaticString = #fileID,
    line: UInt32 = #line
  ) {
    Machine.current.access(address, .store, Site(file, line))
    plain = desired
  }

  public func exchange(
    _ desired: consuming Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID,
    line: UInt32 = #line
  ) -> Value {
    update(Site(file, line), to: desired)
  }

  public func compareExchange(
    expected: consuming Value, desired: consuming Value, ordering: AtomicUpdateOrdering,
    file: StaticString = #fileID, line: UInt32 = #line
  ) -> (exchanged: Bool, original: Value) {
    exchange(expected, desired, Site(file, line))
  }

  public func compareExchange(
    expected: consuming Value, desired: consuming Value,
    successOrdering: AtomicUpdateOrdering, failureOrdering: AtomicLoadOrdering,
    file: StaticString = #fileID, line: UInt32 = #line
  ) -> (exchanged: Bool, original: Value) {
    exchange(expected, desired, Site(file, line))
  }

  public func weakCompareExchange(
    expected: consuming Value, desired: consuming Value, ordering: AtomicUpdateOrdering,
    file: StaticString = #fileID, line: UInt32 = #line
  ) -> (exchanged: Bool, original: Value) {
    exchange(expected, desired, Site(file, line))
  }

  public func weakCompareExchange(
    expected: consuming Value, desired: consuming Value,
    successOrdering: AtomicUpdateOrdering, failureOrdering: AtomicLoadOrdering,
    file: StaticString = #fileID, line: UInt32 = #line
  ) -> (exchanged: Bool, original: Value) {
    exchange(expected, desired, Site(file, line))
  }

  private func exchange(
    _ expected: Value, _ desired: Value, _ site: Site
  ) -> (exchanged: Bool, original: Value) {
    Machine.current.access(address, .update, site)
    let old = plain
    if bits(old) == bits(expected) {
      plain = desired
      return (true, old)
    }
    Machine.current.counts.failed(site)
    return (false, old)
  }

  private func update(_ site: Site, to desired: Value) -> Value {
    update(site) { _ in desired }
  }

  private func update(_ site: Site, _ change: (Value) -> Value) -> Value {
    Machine.current.access(address, .update, site)
    let old = plain
    plain = change(old)
    return old
  }
}

extension Atomic where Value: FixedWidthInteger {
  @discardableResult
  public func wrappingAdd(
    _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID,
    line: UInt32 = #line
  ) -> (oldValue: Value, newValue: Value) {
    let old = update(Site(file, line)) { $0 &+ operand }
    return (old, old &+ operand)
  }

  @discardableResult
  public func wrappingSubtract(
    _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID,
    line: UInt32 = #line
  ) -> (oldValue: Value, newValue: Value) {
    let old = update(Site(file, line)) { $0 &- operand }
    return (old, old &- operand)
  }

  @discardableResult
  public func bitwiseOr(
    _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID,
    line: UInt32 = #line
  ) -> (oldValue: Value, newValue: Value) {
    let old = update(Site(file, line)) { $0 | operand }
    return (old, old | operand)
  }

  @discardableResult
  public func bitwiseAnd(
    _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID,
    line: UInt32 = #line
  ) -> (oldValue: Value, newValue: Value) {
    let old = update(Site(file, line)) { $0 & operand }
    return (old, old & operand)
  }
}
