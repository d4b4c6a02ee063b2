// Room: Queues/LazySlot. A part of the engine that is made on first use.
// Not a `static let`: if a thread initialises it while another thread forks, it stays half made in
// the child for ever, and no code outside can see that. Here the making thread holds a lock, and a
// fork waits for it (Primitives/ForkGate).
// A part that a forked child must reset is registered when it is made, by the overloads of get()
// and reference() in Queues/Runtime+Fork. A struct inside its owner, not an object: every thread
// would count references to an object for each timer.

struct LazySlot: ~Copyable, @unchecked Sendable {
  /// The address of the part, retained; 0 until it is made.
  private let word = Atomic<UInt>(0)
  private let lock = Lock()

  /// Returns the part, which `make` makes the first time; always of one class. Any thread.
  @inline(__always)
  func get<Part: AnyObject>(_ make: () -> Part) -> Part { reference(make).takeUnretainedValue() }

  /// Returns the part without retaining it, for frequent callers: they would contend for its
  /// reference count.
  @inline(__always)
  func reference<Part: AnyObject>(_ make: () -> Part) -> Unmanaged<Part> { plainReference(make) }

  @inline(__always)
  func plainReference<Part: AnyObject>(_ make: () -> Part) -> Unmanaged<Part> {
    // acquiring: pairs with the releasing store in made().
    let address = word.load(ordering: .acquiring)
    // SAFETY: only made() stores a part here, and it stays.
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
      var part: Unmanaged<Part>?
      withAmpleStack { part = .passRetained(make()) }
      let made = part.unsafelyUnwrapped
      word.store(UInt(bitPattern: made.toOpaque()), ordering: .releasing)
      return made
    }
  }
}
