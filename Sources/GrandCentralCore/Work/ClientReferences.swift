// Room: Work/ClientReferences. The number of references to an object that C programs hold.
// All of them together hold one Swift reference: the thread that adds the first retains, and the
// thread that drops the last releases.
//   0 ─first─→ 1 ─add─→ 2 … 2 ─drop─→ 1 ─drop─→ 0; 0 ─drop─→ the program's mistake
// So the count is one addition, where Swift's is a loop, and an excess drop is detected as long as
// the object lives. A thread that adds holds a reference, or another owner keeps the object until
// it has added; so Swift's count may follow this one. Between a drop to 0 and its release another
// thread may raise the count to 1 again, with a retain of its own.
// Immortal objects are not counted: threads everywhere retain and release them, some programs do
// only one of the two, and no thread should wait for their cache line. Their count has a value that
// no other object reaches, and never changes.
// Model: Verification/Models/Scenes/ReferenceModels.swift.

extension DispatchObject {
  private static var uncounted: UInt32 { 1 << 31 }

  // relaxed, here and below: a thread that knows the object by a handle already sees this value.
  @inline(__always)
  package final var isUncounted: Bool {
    clientReferences.load(ordering: .relaxed) >= Self.uncounted
  }

  /// Whether a program holds a counted reference: one comparison. An uncounted object is negative
  /// here.
  @inline(__always)
  package final var isHeldByClient: Bool {
    Int32(bitPattern: clientReferences.load(ordering: .relaxed)) > 0
  }

  /// Makes an object immortal, before any program knows it. May be called again.
  package final func setUncounted() {
    clientReferences.store(Self.uncounted, ordering: .relaxed)
  }

  /// Returns an object, unknown to other threads so far, with the first reference of a program.
  @inline(__always)
  package static func heldByClient(_ object: consuming DispatchObject) -> Unmanaged<DispatchObject>
  {
    // relaxed: the program itself publishes the object to its other threads.
    object.clientReferences.store(1, ordering: .relaxed)
    return .passRetained(object)
  }

  /// Adds a program's reference to a counted object. `first` must call holdFirst(). Any thread.
  @inline(__always)
  package final func addClientReference(first: () -> Void) {
    // relaxed: the count tells only that the object lives, which the caller knows.
    if clientReferences.wrappingAdd(1, ordering: .relaxed).oldValue == 0 { first() }
  }

  package final func holdFirst() { _ = Unmanaged.passRetained(self) }

  /// Drops a program's reference to a counted object. `last` receives the count before, 1 or 0, and
  /// must call dropLast(). Any thread.
  @inline(__always)
  package final func dropClientReference(last: (UInt32) -> Void) {
    // releasing: what this thread did with the object. acquiring: what others did, before its end.
    let old = clientReferences.wrappingSubtract(1, ordering: .acquiringAndReleasing).oldValue
    if old <= 1 { last(old) }
  }

  /// Ends a drop. Returns false, and restores the count, if there was no reference. Otherwise the
  /// object may be gone.
  package final func dropLast(of count: UInt32) -> Bool {
    if count == 0 {
      clientReferences.wrappingAdd(1, ordering: .relaxed)
      return false
    }
    Unmanaged.passUnretained(self).release()
    return true
  }
}
