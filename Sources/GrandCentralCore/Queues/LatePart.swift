// Room: Queues/LatePart. A part of the engine that is made when it is first asked for.
// Not a `static let`: a thread that is making one when another forks leaves it half made in the child for ever, and
// nobody can see it from outside. Here that thread holds a lock, and a fork waits for it (Primitives/ForkGate).
// Part of its owner, and no object: every thread would count references to that for each timer.

struct LatePart: ~Copyable, @unchecked Sendable {
  /// The part, retained, as its address; 0: not yet.
  private let word = Atomic<UInt>(0)
  private let lock = Lock()

  /// The part, which `make` makes the first time; always of one class. Any thread.
  @inline(__always)
  func get<Part: AnyObject>(_ make: () -> Part) -> Part { reference(make).takeUnretainedValue() }

  /// The same, for those who come by all the time: its count of references would be what threads meet at.
  @inline(__always)
  func reference<Part: AnyObject>(_ make: () -> Part) -> Unmanaged<Part> {
    // acquiring: pairs with the releasing store in made().
    let address = word.load(ordering: .acquiring)
    // SAFETY: only made() puts anything there, for good.
    if let raw = UnsafeRawPointer(bitPattern: address) { return Unmanaged.fromOpaque(raw) }
    return made(make)
  }

  @inline(never)
  private func made<Part: AnyObject>(_ make: () -> Part) -> Unmanaged<Part> {
    lock.withLock {
      // SAFETY: as above.
      if let raw = UnsafeRawPointer(bitPattern: word.load(ordering: .relaxed)) {
        return Unmanaged.fromOpaque(raw)
      }
      let part = Unmanaged.passRetained(make())
      word.store(UInt(bitPattern: part.toOpaque()), ordering: .releasing)
      return part
    }
  }
}
