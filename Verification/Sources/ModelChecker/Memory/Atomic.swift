// Room: ModelChecker/Atomic. The standard library's Atomic, under the same names, in the modelled
// memory. Each operation records its site in the source, for reports and mutations. A value is
// stored as its bits. Inlinable down to WordMemory, so that the checked program's build compiles
// plain calls.
@_exported public import protocol Synchronization.AtomicRepresentable

/// Has the part of the interface of `Synchronization.Atomic` that the engine uses.
public struct Atomic<Value>: ~Copyable, @unchecked Sendable {
  @usableFromInline let word: Word

  @inlinable
  public init(_ value: consuming Value, file: StaticString = #fileID, line: UInt32 = #line) {
    word = WordMemory.make(Bits.of(value), Site(file, line))
  }

  @inlinable
  deinit { WordMemory.end(word) }

  /// The atomic's location in the modelled memory.
  public var modelWord: Word { word }
}

/// Converts values to bits and back. Every atomic value is trivial and at most eight bytes long.
@usableFromInline
enum Bits {
  @inlinable @inline(__always)
  static func of<Value>(_ value: Value) -> UInt64 {
    var bits: UInt64 = 0
    withUnsafeMutableBytes(of: &bits) { $0.storeBytes(of: value, as: Value.self) }
    return bits
  }

  @inlinable @inline(__always)
  static func value<Value>(_ bits: UInt64) -> Value {
    withUnsafeBytes(of: bits) { $0.load(as: Value.self) }
  }
}

/// Passes the atomics' operations to the current execution.
@usableFromInline
enum WordMemory {
  @usableFromInline
  static func make(_ bits: UInt64, _ site: Site) -> Word {
    Execution.withCurrent { $0.makeLocation(bits, site) }
  }

  @usableFromInline
  static func end(_ word: Word) { Execution.withCurrent { $0.endLocation(word) } }

  @usableFromInline
  static func load(_ word: Word, _ order: Ordering, _ site: Site) -> UInt64 {
    Execution.withCurrent { $0.load(word, order, site) }
  }

  @usableFromInline
  static func store(_ word: Word, _ bits: UInt64, _ order: Ordering, _ site: Site) {
    Execution.withCurrent { $0.store(word, bits, order, site) }
  }

  @usableFromInline
  static func fetch(_ word: Word, _ site: Site) -> UInt64 {
    Execution.withCurrent { $0.fetch(word, site) }
  }

  @usableFromInline
  static func commit(
    _ word: Word, from old: UInt64, to bits: UInt64, _ order: Ordering, _ site: Site
  ) {
    Execution.withCurrent { $0.commit(word, from: old, to: bits, order, site) }
  }

  @usableFromInline
  static func compareExchange(
    _ word: Word, expected: UInt64, desired: UInt64, isWeak: Bool, success: Ordering,
    failure: Ordering, _ site: Site
  ) -> (exchanged: Bool, original: UInt64) {
    Execution.withCurrent {
      $0.compareExchange(
        word, expected: expected, desired: desired, isWeak: isWeak, success: success,
        failure: failure, site)
    }
  }
}

extension Atomic {
  @inlinable
  public func load(
    ordering: AtomicLoadOrdering, file: StaticString = #fileID, line: UInt32 = #line
  ) -> Value {
    Bits.value(WordMemory.load(word, ordering.order, Site(file, line)))
  }

  @inlinable
  public func store(
    _ desired: consuming Value, ordering: AtomicStoreOrdering, file: StaticString = #fileID,
    line: UInt32 = #line
  ) {
    WordMemory.store(word, Bits.of(desired), ordering.order, Site(file, line))
  }

  @inlinable
  public func exchange(
    _ desired: consuming Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID,
    line: UInt32 = #line
  ) -> Value {
    let bits = Bits.of(desired)
    return Bits.value(update(ordering, Site(file, line)) { _ in bits })
  }

  @inlinable
  public func compareExchange(
    expected: consuming Value, desired: consuming Value, ordering: AtomicUpdateOrdering,
    file: StaticString = #fileID, line: UInt32 = #line
  ) -> (exchanged: Bool, original: Value) {
    exchange(
      expected, desired, isWeak: false, ordering.order,
      ordering.order.subtracting(.releases), Site(file, line))
  }

  @inlinable
  public func compareExchange(
    expected: consuming Value, desired: consuming Value,
    successOrdering: AtomicUpdateOrdering, failureOrdering: AtomicLoadOrdering,
    file: StaticString = #fileID, line: UInt32 = #line
  ) -> (exchanged: Bool, original: Value) {
    exchange(
      expected, desired, isWeak: false, successOrdering.order, failureOrdering.order,
      Site(file, line))
  }

  @inlinable
  public func weakCompareExchange(
    expected: consuming Value, desired: consuming Value, ordering: AtomicUpdateOrdering,
    file: StaticString = #fileID, line: UInt32 = #line
  ) -> (exchanged: Bool, original: Value) {
    exchange(
      expected, desired, isWeak: true, ordering.order, ordering.order.subtracting(.releases),
      Site(file, line))
  }

  @inlinable
  public func weakCompareExchange(
    expected: consuming Value, desired: consuming Value,
    successOrdering: AtomicUpdateOrdering, failureOrdering: AtomicLoadOrdering,
    file: StaticString = #fileID, line: UInt32 = #line
  ) -> (exchanged: Bool, original: Value) {
    exchange(
      expected, desired, isWeak: true, successOrdering.order, failureOrdering.order,
      Site(file, line))
  }

  @inlinable @inline(__always)
  func exchange(
    _ expected: Value, _ desired: Value, isWeak: Bool, _ success: Ordering, _ failure: Ordering,
    _ site: Site
  ) -> (exchanged: Bool, original: Value) {
    let (exchanged, original) = WordMemory.compareExchange(
      word, expected: Bits.of(expected), desired: Bits.of(desired), isWeak: isWeak,
      success: success, failure: failure, site)
    return (exchanged, Bits.value(original))
  }

  @inlinable @inline(__always)
  func update(
    _ ordering: AtomicUpdateOrdering, _ site: Site, _ change: (UInt64) -> UInt64
  ) -> UInt64 {
    let old = WordMemory.fetch(word, site)
    WordMemory.commit(word, from: old, to: change(old), ordering.order, site)
    return old
  }
}

extension Atomic where Value: FixedWidthInteger {
  @inlinable @inline(__always)
  func replace(
    _ ordering: AtomicUpdateOrdering, _ site: Site, _ change: (Value) -> Value
  ) -> (oldValue: Value, newValue: Value) {
    let old: Value = Bits.value(update(ordering, site) { Bits.of(change(Bits.value($0))) })
    return (old, change(old))
  }

  @discardableResult @inlinable
  public func wrappingAdd(
    _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID,
    line: UInt32 = #line
  ) -> (oldValue: Value, newValue: Value) {
    replace(ordering, Site(file, line)) { $0 &+ operand }
  }

  @discardableResult @inlinable
  public func wrappingSubtract(
    _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID,
    line: UInt32 = #line
  ) -> (oldValue: Value, newValue: Value) {
    replace(ordering, Site(file, line)) { $0 &- operand }
  }

  @discardableResult @inlinable
  public func bitwiseOr(
    _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID,
    line: UInt32 = #line
  ) -> (oldValue: Value, newValue: Value) {
    replace(ordering, Site(file, line)) { $0 | operand }
  }

  @discardableResult @inlinable
  public func bitwiseAnd(
    _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID,
    line: UInt32 = #line
  ) -> (oldValue: Value, newValue: Value) {
    replace(ordering, Site(file, line)) { $0 & operand }
  }
}
