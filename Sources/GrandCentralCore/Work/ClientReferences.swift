// Room: Work/ClientReferences. How many references to an object C programs hold.
// They stand for one of Swift's: who makes the first takes it, who drops the last gives it back.
//   0 ─first─→ 1 ─add─→ 2 … 2 ─drop─→ 1 ─drop─→ 0; 0 ─drop─→ the program's mistake
// So the count is one addition, where Swift's is a loop, and a program that drops what it does not hold is found as long as
// the object lives. Whoever adds holds a reference, or somebody keeps the object for it until it has added: so it does
// not matter that Swift's count comes after this one. Between a drop to 0 and its release another may make it 1 again, with
// a reference of its own.
// What never ends is not counted: threads everywhere retain and release it, some programs only the one or the other, and
// none may wait for another's cache line. Its count is one that no other object reaches, and nobody changes it.
// Model: Tests/Models/Scenes/ReferenceModels.swift.

extension DispatchObject {
  private static var uncounted: UInt32 { 1 << 31 }

  // relaxed, here and below: who knows the object by a handle has this behind it.
  @inline(__always)
  private final var isUncounted: Bool {
    clientReferences.load(ordering: .relaxed) >= Self.uncounted
  }

  /// For an object that lives as long as the process, before any program knows it. May be called again.
  package final func setUncounted() {
    clientReferences.store(Self.uncounted, ordering: .relaxed)
  }

  /// An object that nobody else knows of yet, with the first reference of a program.
  @inline(__always)
  package static func heldByClient(_ object: consuming DispatchObject) -> Unmanaged<DispatchObject>
  {
    // relaxed: the program hands it to its other threads.
    object.clientReferences.store(1, ordering: .relaxed)
    return .passRetained(object)
  }

  /// Adds a reference of a program's. `first` is to call holdFirst(). Any thread.
  @inline(__always)
  package final func addClientReference(first: () -> Void) {
    if isUncounted { return }
    // relaxed: nothing is learnt from it but that the object lives, which the caller knows.
    if clientReferences.wrappingAdd(1, ordering: .relaxed).oldValue == 0 { first() }
  }

  package final func holdFirst() { _ = Unmanaged.passRetained(self) }

  /// Drops a reference of a program's. `last` is given how many there were, 1 or 0, and is to call dropLast(). Any
  /// thread.
  @inline(__always)
  package final func dropClientReference(last: (UInt32) -> Void) {
    if isUncounted { return }
    // releasing: what this thread did with the object. acquiring: what others did, for its end.
    let old = clientReferences.wrappingSubtract(1, ordering: .acquiringAndReleasing).oldValue
    if old <= 1 { last(old) }
  }

  /// Returns false if there was none: then nothing has happened. If not, the object may be gone.
  package final func dropLast(of count: UInt32) -> Bool {
    if count == 0 {
      clientReferences.wrappingAdd(1, ordering: .relaxed)
      return false
    }
    Unmanaged.passUnretained(self).release()
    return true
  }
}
