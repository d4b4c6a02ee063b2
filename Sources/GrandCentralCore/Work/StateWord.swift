// Room: Work/StateWord. The one exchange loop of the engine's state words.
// A state word changes by named transitions, which are pure functions of the old word. It is
// written only by `transition`, or by `change` if the transition applies to every word. Both write
// even if the word stays the same: a thread that finds its bit set already must still publish what
// it wrote before, and order what it reads next.
// A transition that returns `nil` exchanges nothing and orders nothing. It may have seen an old
// word: a caller for which that matters must have ordered the word before, or loads it afterwards.
// Each call names its order and says why it suffices; a failed exchange is relaxed.
// Invariant: every word that is written is valid by its own definition; checked in debug builds and
// in the models.
// These changes do without `transition`:
//   a loop that loads the word acquiring, because it also reads memory that belongs to the word,
//   such as a lane's width, or that does something for each attempt: it says so, and calls `check`
//   an exchange that is tried once, such as those of an uncontended `sync`
//   a word that is mostly changed by one addition or exchange: groups, semaphores, Worker.Status

/// A word that is one state of a protocol.
protocol StateWord: RawRepresentable, AtomicRepresentable, Hashable, Sendable
where RawValue: FixedWidthInteger {
  /// Whether the protocol has this state.
  var isValid: Bool { get }

  // Atomic has operations for each width, and none for all of them.
  static func guess(_ word: borrowing Atomic<Self>) -> Self
  static func tryExchange(
    _ word: borrowing Atomic<Self>, from old: Self, to next: Self, _ order: TransitionOrder,
    _ file: StaticString, _ line: UInt32
  ) -> (exchanged: Bool, original: Self)
}

extension StateWord {
  /// Stops the process if a transition from `old` has written an invalid word.
  @inline(__always)
  func check(after old: Self) {
    #if DEBUG || GRANDCENTRAL_MODEL
      invariant(
        isValid,
        "A \(Self.self) went from 0x\(String(old.rawValue, radix: 16)) to "
          + "0x\(String(rawValue, radix: 16)), which is no state of its protocol.")
    #endif
  }
}

extension Atomic where Value: StateWord {
  /// Replaces the word by its successor, and returns what `change` makes of the transition. `nil`:
  /// `change` refused the word, which stays.
  @inline(__always) @discardableResult
  func transition<Outcome>(
    _ order: TransitionOrder, file: StaticString = #fileID, line: UInt32 = #line,
    _ change: (Value) -> (Value, Outcome)?
  ) -> Outcome? {
    var seen = Value.guess(self)
    while let (next, outcome) = change(seen) {
      // The site of a transition is its caller's, so a mutant changes one transition alone.
      let (won, now) = Value.tryExchange(self, from: seen, to: next, order, file, line)
      if won {
        next.check(after: seen)
        return outcome
      }
      seen = now
    }
    return nil
  }

  /// Replaces the word by its successor; `nil` refuses. Returns whether the word was replaced.
  @inline(__always) @discardableResult
  func transition(
    _ order: TransitionOrder, file: StaticString = #fileID, line: UInt32 = #line,
    to change: (Value) -> Value?
  ) -> Bool {
    transition(order, file: file, line: line) { seen in change(seen).map { ($0, ()) } } != nil
  }

  /// Replaces the word by its successor, and returns the outcome of the transition, which every
  /// word has.
  @inline(__always) @discardableResult
  func change<Outcome>(
    _ order: TransitionOrder, file: StaticString = #fileID, line: UInt32 = #line,
    by transition: (Value) -> (Value, Outcome)
  ) -> Outcome {
    // The closure never refuses.
    self.transition(order, file: file, line: line) { .some(transition($0)) }.unsafelyUnwrapped
  }
}

// Most words have one order: each transition publishes what its thread did before, and sees what
// the threads of earlier transitions did before theirs.
extension Atomic where Value: StateWord {
  @inline(__always) @discardableResult
  func transition<Outcome>(
    file: StaticString = #fileID, line: UInt32 = #line,
    _ change: (Value) -> (next: Value, outcome: Outcome)?
  ) -> Outcome? {
    transition(.acquiringAndReleasing, file: file, line: line) { change($0) }
  }

  @inline(__always) @discardableResult
  func transition(
    file: StaticString = #fileID, line: UInt32 = #line, to change: (Value) -> Value?
  ) -> Bool {
    transition(.acquiringAndReleasing, file: file, line: line, to: change)
  }
}

// MARK: One exchange

#if GRANDCENTRAL_MODEL
  typealias TransitionOrder = AtomicUpdateOrdering

  extension StateWord {
    static func guess(_ word: borrowing Atomic<Self>) -> Self { word.load(ordering: .relaxed) }

    static func tryExchange(
      _ word: borrowing Atomic<Self>, from old: Self, to next: Self, _ order: TransitionOrder,
      _ file: StaticString, _ line: UInt32
    ) -> (exchanged: Bool, original: Self) {
      word.weakCompareExchange(
        expected: old, desired: next, successOrdering: order, failureOrdering: .relaxed,
        file: file, line: line)
    }
  }
#else
  /// The order of a successful exchange. The orderings of `Atomic` must be literals at its own
  /// calls; this one is a literal at the calls of `transition`, so the compiler removes the switch.
  enum TransitionOrder {
    case relaxed, acquiring, releasing, acquiringAndReleasing, sequentiallyConsistent
  }

  extension StateWord where AtomicRepresentation == UInt32.AtomicRepresentation {
    // relaxed: a guess that the exchange re-checks.
    @inline(__always)
    static func guess(_ word: borrowing Atomic<Self>) -> Self { word.load(ordering: .relaxed) }

    @inline(__always)
    static func tryExchange(
      _ word: borrowing Atomic<Self>, from old: Self, to next: Self, _ order: TransitionOrder,
      _ file: StaticString, _ line: UInt32
    ) -> (exchanged: Bool, original: Self) {
      switch order {
      case .relaxed:
        word.weakCompareExchange(expected: old, desired: next, ordering: .relaxed)
      case .acquiring:
        word.weakCompareExchange(
          expected: old, desired: next, successOrdering: .acquiring, failureOrdering: .relaxed)
      case .releasing:
        word.weakCompareExchange(
          expected: old, desired: next, successOrdering: .releasing, failureOrdering: .relaxed)
      case .acquiringAndReleasing:
        word.weakCompareExchange(
          expected: old, desired: next, successOrdering: .acquiringAndReleasing,
          failureOrdering: .relaxed)
      case .sequentiallyConsistent:
        word.weakCompareExchange(
          expected: old, desired: next, successOrdering: .sequentiallyConsistent,
          failureOrdering: .relaxed)
      }
    }
  }

  // The same for words of 64 bits.
  extension StateWord where AtomicRepresentation == UInt64.AtomicRepresentation {
    // relaxed: a guess that the exchange re-checks.
    @inline(__always)
    static func guess(_ word: borrowing Atomic<Self>) -> Self { word.load(ordering: .relaxed) }

    @inline(__always)
    static func tryExchange(
      _ word: borrowing Atomic<Self>, from old: Self, to next: Self, _ order: TransitionOrder,
      _ file: StaticString, _ line: UInt32
    ) -> (exchanged: Bool, original: Self) {
      switch order {
      case .relaxed:
        word.weakCompareExchange(expected: old, desired: next, ordering: .relaxed)
      case .acquiring:
        word.weakCompareExchange(
          expected: old, desired: next, successOrdering: .acquiring, failureOrdering: .relaxed)
      case .releasing:
        word.weakCompareExchange(
          expected: old, desired: next, successOrdering: .releasing, failureOrdering: .relaxed)
      case .acquiringAndReleasing:
        word.weakCompareExchange(
          expected: old, desired: next, successOrdering: .acquiringAndReleasing,
          failureOrdering: .relaxed)
      case .sequentiallyConsistent:
        word.weakCompareExchange(
          expected: old, desired: next, successOrdering: .sequentiallyConsistent,
          failureOrdering: .relaxed)
      }
    }
  }
#endif
