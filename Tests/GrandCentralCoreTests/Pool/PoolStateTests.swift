import Testing

@testable import GrandCentralCore

@Suite("A pool's state word") struct PoolStateTests {
  private static func word(
    threads: Int = 0, idle: Int = 0, searching: Int = 0, active: Int = 0
  ) -> PoolState {
    PoolState(
      rawValue: UInt64(threads) << 48 | UInt64(idle) << 32 | UInt64(searching) << 16
        | UInt64(active))
  }

  private static func keepsInvariants(_ word: PoolState) -> Bool {
    word.isValid && word.searching <= word.active && word.active + word.idle <= word.threads
  }

  /// Every valid word with up to five threads, and some with very many.
  static let valid: [PoolState] = {
    var words: [PoolState] = []
    for threads in [0, 1, 2, 3, 4, 5, 1000, 65534] {
      let counts = [0, 1, 2, 3, 4, 5, threads - 1, threads]
      for idle in counts where idle >= 0 {
        for active in counts where active >= 0 {
          for searching in [0, 1, 2, active] {
            let word = word(
              threads: threads, idle: idle, searching: searching, active: active)
            if keepsInvariants(word) { words.append(word) }
          }
        }
      }
    }
    return words
  }()

  /// Checks one transition from all words in which it may start: the invariants, and the change of
  /// each count.
  private func expect(
    from words: [PoolState], threads: Int = 0, idle: Int = 0, searching: Int = 0,
    active: Int = 0, sourceLocation: SourceLocation = #_sourceLocation,
    _ transition: (PoolState) -> PoolState
  ) {
    #expect(!words.isEmpty, sourceLocation: sourceLocation)
    let wrong = words.filter { word in
      let next = transition(word)
      return !Self.keepsInvariants(next)
        || next
          != Self.word(
            threads: word.threads + threads, idle: word.idle + idle,
            searching: word.searching + searching, active: word.active + active)
    }
    #expect(
      wrong.isEmpty,
      "\(wrong.count) wrong, the first: \(wrong.prefix(3)) → \(wrong.prefix(3).map(transition))",
      sourceLocation: sourceLocation)
  }

  @Test func `keeps its counts apart`() {
    let word = Self.word(threads: 0xffff, idle: 0xfffe, searching: 0xfffd, active: 0xfffc)
    #expect(word.threads == 0xffff && word.idle == 0xfffe)
    #expect(word.searching == 0xfffd && word.active == 0xfffc)
  }

  @Test(arguments: [1, 2, 3, 1000], [1, 2, 5, 65535])
  func `chooses at most one worker to search, within allowance and threads`(
    allowance: Int, maxThreads: Int
  ) {
    for word in Self.valid {
      let (next, action) = word.woken(allowance: allowance, maxThreads: maxThreads)
      guard Self.keepsInvariants(next) else {
        Issue.record("\(word) → \(next) by \(action)")
        continue
      }
      let isRight =
        switch action {
        case .nothing: word.searching > 0 && next == word
        case .saturated:
          word.searching == 0 && next == word
            && (word.active >= allowance || word.idle == 0 && word.threads >= maxThreads)
        case .wakeIdle:
          word.searching == 0 && word.active < allowance && word.idle > 0
            && next
              == Self.word(
                threads: word.threads, idle: word.idle - 1, searching: 1,
                active: word.active + 1)
        case .spawn:
          word.searching == 0 && word.active < allowance && word.idle == 0
            && word.threads < maxThreads
            && next
              == Self.word(
                threads: word.threads + 1, idle: 0, searching: 1, active: word.active + 1)
        }
      if !isRight { Issue.record("\(word) → \(next) by \(action)") }
    }
  }

  @Test(arguments: [0, 1, 5, 65535])
  func `forces one more worker awake in any state`(maxThreads: Int) {
    for word in Self.valid {
      let (next, action) = word.forceWoken(maxThreads: maxThreads)
      guard action != .saturated else {
        #expect(word.idle == 0 && word.threads >= maxThreads && next == word)
        continue
      }
      #expect(action == (word.idle > 0 ? .wakeIdle : .spawn))
      expect(
        from: [word], threads: action == .spawn ? 1 : 0, idle: action == .wakeIdle ? -1 : 0,
        searching: 1, active: 1
      ) { $0.forceWoken(maxThreads: maxThreads).0 }
    }
  }

  @Test func `forgets an active worker whose thread ends`() {
    let atWork = Self.valid.filter { $0.active > $0.searching }
    expect(from: atWork, threads: -1, active: -1) { $0.threadEnded() }
  }

  @Test func `uncounts a worker that could not be created`() {
    let words = Self.valid.compactMap { word -> PoolState? in
      let (next, action) = word.woken(allowance: 2000, maxThreads: 2000)
      return action == .spawn ? next : nil
    }
    expect(from: words, threads: -1, searching: -1, active: -1) { $0.spawnFailed() }
  }

  @Test func `counts a search from its beginning to its end`() {
    expect(from: Self.valid.filter { $0.searching < $0.active }, searching: 1) {
      $0.searchBegan()
    }
    let searching = Self.valid.filter { $0.searching > 0 }
    expect(from: searching, searching: -1) { $0.searchEnded().0 }
    #expect(searching.allSatisfy { $0.searchEnded().isLast == ($0.searching == 1) })
  }

  @Test func `moves a worker between searching and idle`() {
    expect(
      from: Self.valid.filter { $0.searching > 0 }, idle: 1, searching: -1, active: -1
    ) { $0.parked() }
    expect(from: Self.valid.filter { $0.idle > 0 }, idle: -1, searching: 1, active: 1) {
      $0.unparked()
    }
    for word in Self.valid where word.searching > 0 {
      #expect(word.parked().unparked() == word)
    }
  }

  @Test(arguments: [1, 2, 4])
  func `retires workers beyond the allowance, and no others`(allowance: Int) {
    let tooMany = Self.valid.filter { $0.active > allowance && $0.searching < $0.active }
    expect(from: tooMany, idle: 1, active: -1) {
      $0.steppedBack(allowance: allowance, isSearching: false) ?? $0
    }
    let searching = Self.valid.filter { $0.active > allowance && $0.searching > 0 }
    expect(from: searching, idle: 1, searching: -1, active: -1) {
      $0.steppedBack(allowance: allowance, isSearching: true) ?? $0
    }
    for word in Self.valid where word.active <= allowance {
      #expect(word.steppedBack(allowance: allowance, isSearching: false) == nil)
      #expect(word.steppedBack(allowance: allowance, isSearching: true) == nil)
    }
  }

  @Test func `forgets an idle worker that leaves`() {
    expect(from: Self.valid.filter { $0.idle > 0 }, threads: -1, idle: -1) { $0.retired() }
  }

  @Test func `does not count a worker active while its item sleeps`() {
    let atWork = Self.valid.filter { $0.active > $0.searching }
    expect(from: atWork, active: -1) { $0.blocked() }
    expect(from: atWork.map { $0.blocked() }, active: 1) { $0.unblocked() }
  }

  @Test func `is not valid when a count has gone below zero`() {
    // A pool has at most 1004 threads.
    let words = Self.valid.filter { (1...1004).contains($0.threads) }
    let idle = words.filter { $0.active == 0 }
    #expect(!idle.isEmpty && idle.allSatisfy { !$0.blocked().isValid })
    let unsought = words.filter { $0.searching == 0 }
    #expect(!unsought.isEmpty && unsought.allSatisfy { !$0.searchEnded().0.isValid })
  }
}

@Suite("The two kinds of work") struct WorkKindTests {
  @Test func `take turns`() {
    let picks = (UInt32.max - 2...UInt32.max).map { $0 } + [0, 1, 2, 3]
    let kinds = picks.map(WorkKind.first(atPick:))
    for (kind, next) in zip(kinds, kinds.dropFirst()) { #expect(next == kind.other) }
    #expect(WorkKind.items.other == .lanes && WorkKind.lanes.other == .items)
  }

  @Test func `have an injector for each band, each with its own index`() {
    var places: Set<Int> = []
    for kind in WorkKind.allCases {
      for band in Band.allCases { places.insert(InjectorKey(kind: kind, band: band).index) }
    }
    #expect(places.count == WorkKind.allCases.count * Band.allCases.count)
    #expect(places.allSatisfy { (0..<InjectorKey.count).contains($0) })
  }
}
