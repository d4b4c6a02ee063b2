// Room: Reactor/StateWord. The one exchange loop of the state words of Reactor and Sources.
// A state word changes by named transitions, which are pure functions of the old word. Only
// `transition` exchanges one. It exchanges also where a transition changes nothing: a thread that
// finds its bit set already must still publish what it wrote before, and order what it reads next.
// A transition that returns `nil` exchanges nothing and orders nothing.
// Invariant: every word that is written is valid by its own definition; checked in debug builds and
// in the models.

/// A word that is one state of a protocol.
protocol StateWord: RawRepresentable, AtomicRepresentable, Hashable, Sendable
where RawValue == UInt32, AtomicRepresentation == UInt32.AtomicRepresentation {
  /// Whether the protocol has this state.
  var isValid: Bool { get }
}

extension Atomic where Value: StateWord {
  /// Replaces the word by its successor, and returns what `change` makes of the transition. `nil`:
  /// `change` refused the word, which stays.
  @inline(__always) @discardableResult
  func transition<Outcome>(
    file: StaticString = #fileID, line: UInt32 = #line,
    _ change: (Value) -> (next: Value, outcome: Outcome)?
  ) -> Outcome? {
    // relaxed: a guess that the exchange re-checks.
    var seen = load(ordering: .relaxed)
    while let (next, outcome) = change(seen) {
      #if DEBUG || GRANDCENTRAL_MODEL
        invariant(next.isValid, "A \(Value.self) went from \(seen) to \(next).")
      #endif
      // acquiringAndReleasing: each transition publishes what its thread did before, and sees what
      // the threads of earlier transitions did before theirs. Failure relaxed: as the guess.
      #if GRANDCENTRAL_MODEL
        // The site of a transition is its caller's, so a mutant changes one transition alone.
        let (won, now) = weakCompareExchange(
          expected: seen, desired: next, successOrdering: .acquiringAndReleasing,
          failureOrdering: .relaxed, file: file, line: line)
      #else
        let (won, now) = weakCompareExchange(
          expected: seen, desired: next, successOrdering: .acquiringAndReleasing,
          failureOrdering: .relaxed)
      #endif
      if won { return outcome }
      seen = now
    }
    return nil
  }

  /// Replaces the word by its successor; `nil` refuses. Returns whether the word was replaced.
  @inline(__always) @discardableResult
  func transition(
    file: StaticString = #fileID, line: UInt32 = #line, to change: (Value) -> Value?
  ) -> Bool {
    transition(file: file, line: line) { seen in change(seen).map { ($0, ()) } } != nil
  }
}
