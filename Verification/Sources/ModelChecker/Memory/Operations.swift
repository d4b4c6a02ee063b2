// Room: ModelChecker/Operations. Loads, stores, exchanges, sleeps and wake-ups in the modelled
// memory. Outside of scheduling (during the scene's setup and the verdict) they take effect at
// once.

/// The word of an atomic.
public typealias Word = UnsafeMutablePointer<Location>

extension Execution {
  /// The time of the running thread's current step.
  @inline(__always)
  private var now: UInt16 { threads[running].memory[running] }

  /// Records that the running thread has made its step.
  @inline(__always)
  private func end(_ kind: Step.Kind, _ location: Word) {
    if isScheduling {
      record(kind, location)
    } else if now > Threads.maxSteps {
      fail("The stage of a model makes more than \(Threads.maxSteps) steps.")
    }
    threads[running].memory[running] &+= 1
  }

  @inline(__always)
  private func begin(_ kind: Step.Kind, _ location: Word, _ site: Site) {
    check(location, site)
    if isScheduling {
      reach(kind, location, site)
      // Other threads may have run meanwhile.
      check(location, site)
    }
  }

  @inline(__always)
  private func change(at site: Site) -> Mutation.Change? {
    mutations.isEmpty ? nil : mutations.change(at: site)
  }

  /// Makes the running thread read the store at `index`.
  @inline(__always)
  private func read(_ location: Word, _ index: Int, _ order: Ordering) -> UInt64 {
    let store = location.pointee.stores + index
    store.pointee.seen[running] = min(store.pointee.seen[running], now)
    if order.contains(.acquires) { threads[running].memory.join(store.pointee.message) }
    return store.pointee.value
  }

  @inline(__always)
  private func write(
    _ location: Word, _ value: UInt64, _ order: Ordering, continuing message: VectorClock
  ) {
    var message = message
    if order.contains(.releases) { message.join(threads[running].memory) }
    var seen = VectorClock.never
    seen[running] = now
    location.pointee.append(
      Store(
        value: value, seen: seen, message: message,
        isSequential: order.contains(.isSequential)))
  }

  func load(_ location: Word, _ asked: Ordering, _ site: Site) -> UInt64 {
    begin(.load, location, site)
    visits?.add(site, asked.subtracting(.releases))
    let change = change(at: site)
    let order = asked.changed(by: change)
    let latest = location.pointee.count - 1
    var index = latest
    if options.isWeak && isScheduling {
      let oldest = location.pointee.oldestReadable(
        by: threads[running].memory, isSequential: order.contains(.isSequential))
      index -= choice(of: latest - oldest + 1)
    }
    var value = read(location, index, order)
    if case .returns(let other) = change { value = other }
    trace?.load(self, location, value, age: latest - index, site)
    end(.load, location)
    return value
  }

  func store(_ location: Word, _ value: UInt64, _ asked: Ordering, _ site: Site) {
    begin(.store, location, site)
    visits?.add(site, asked.subtracting(.acquires))
    let change = change(at: site)
    trace?.store(self, location, value, site)
    if change != .skips {
      write(
        location, change?.written(value) ?? value, asked.changed(by: change), continuing: .zero)
    }
    end(.store, location)
  }

  /// The reading half of a read-modify-write; `commit` must follow at once.
  func fetch(_ location: Word, _ site: Site) -> UInt64 {
    guard change(at: site) == .splits else {
      begin(.update, location, site)
      return location.pointee.latest
    }
    begin(.load, location, site)
    let value = read(location, location.pointee.count - 1, .relaxed)
    trace?.load(self, location, value, age: 0, site)
    end(.load, location)
    begin(.store, location, site)
    return value
  }

  func commit(
    _ location: Word, from old: UInt64, to value: UInt64, _ asked: Ordering, _ site: Site
  ) {
    visits?.add(site, asked)
    let change = change(at: site)
    let order = asked.changed(by: change)
    trace?.update(self, location, from: old, to: value, site)
    if change != .skips {
      let last = location.pointee.count - 1
      _ = read(location, last, order)
      write(
        location, change?.written(value) ?? value, order,
        continuing: location.pointee.stores[last].message)
    }
    end(.update, location)
  }

  func compareExchange(
    _ location: Word, expected: UInt64, desired: UInt64, isWeak: Bool,
    success: Ordering, failure: Ordering, _ site: Site
  ) -> (exchanged: Bool, original: UInt64) {
    visits?.add(site, success.union(failure))
    let change = change(at: site)
    if change == .isBlind || change == .splits {
      return exchangeBlindly(location, expected, desired, success, isSplit: change == .splits, site)
    }
    begin(.update, location, site)
    let last = location.pointee.count - 1
    let latest = location.pointee.stores[last].value
    if let index = failingRead(location, expected, isWeak, failure.changed(by: change)) {
      let value = read(location, index, failure.changed(by: change))
      trace?.failedExchange(self, location, value, expected, site)
      end(.load, location)
      return (false, value)
    }
    let order = success.changed(by: change)
    trace?.update(self, location, from: latest, to: desired, site)
    if change != .skips {
      _ = read(location, last, order)
      write(
        location, change?.written(desired) ?? desired, order,
        continuing: location.pointee.stores[last].message)
    }
    end(.update, location)
    return (true, latest)
  }

  /// Returns the store that a failing compare-exchange reads; `nil` if it succeeds.
  @inline(__always)
  private func failingRead(
    _ location: Word, _ expected: UInt64, _ isWeak: Bool, _ failure: Ordering
  ) -> Int? {
    let last = location.pointee.count - 1
    let canSucceed = location.pointee.stores[last].value == expected
    let mayFail = isWeak && canSucceed && isScheduling && threads[running].spuriousFailuresLeft > 0
    guard isScheduling && (options.isWeak || mayFail) else { return canSucceed ? nil : last }
    // Outcomes in order: success or the latest value, older values that differ, a spurious failure.
    let oldest =
      options.isWeak
      ? location.pointee.oldestReadable(
        by: threads[running].memory, isSequential: failure.contains(.isSequential)) : last
    let stores = location.pointee.stores
    var older = 0
    for index in oldest..<last where stores[index].value != expected { older += 1 }
    var chosen = choice(of: 1 + older + (mayFail ? 1 : 0))
    if chosen == 0 { return canSucceed ? nil : last }
    if chosen <= older {
      var index = last
      while chosen > 0 {
        index -= 1
        if stores[index].value != expected { chosen -= 1 }
      }
      return index
    }
    threads[running].spuriousFailuresLeft -= 1
    return last
  }

  private func exchangeBlindly(
    _ location: Word, _ expected: UInt64, _ desired: UInt64, _ order: Ordering, isSplit: Bool,
    _ site: Site
  ) -> (exchanged: Bool, original: UInt64) {
    begin(isSplit ? .load : .update, location, site)
    if isSplit {
      let value = read(location, location.pointee.count - 1, order)
      trace?.load(self, location, value, age: 0, site)
      end(.load, location)
      if value != expected { return (false, value) }
      begin(.store, location, site)
    }
    let latest = location.pointee.latest
    trace?.update(self, location, from: latest, to: desired, site)
    let last = location.pointee.count - 1
    _ = read(location, last, order)
    write(location, desired, order, continuing: location.pointee.stores[last].message)
    end(.update, location)
    return (true, isSplit ? expected : latest)
  }

  // MARK: Sleeping

  /// futex(2) wait on the bits of `mask`. Returns false if the deadline ended the wait.
  func futexWait(
    _ location: Word, mask: UInt64, expected: UInt64, until deadline: UInt64?, _ site: Site
  ) -> Bool {
    if isWindingDown {
      let isSame = (location.pointee.latest ^ expected) & mask == 0
      return isSame ? sleepWindingDown(until: deadline) : true
    }
    guard isScheduling else {
      fail("The stage of a model cannot sleep, and would: \(Report.place(site)).")
    }
    let change = change(at: site)
    let deadline = change == .oversleeps ? nil : deadline
    let kind: Step.Kind = deadline == nil ? .sleep : .sleepUntil
    begin(kind, location, site)
    // The kernel compares under its own lock, so it reads the latest value.
    let value = read(location, location.pointee.count - 1, .relaxed)
    if (value ^ expected) & mask != 0 && change != .sleepsBlindly {
      trace?.note("\(threads[running].name): does not sleep, the word has changed", site)
      end(kind, location)
      return true
    }
    if threads[running].spuriousWakesLeft > 0, choice(of: 2) == 1 {
      threads[running].spuriousWakesLeft -= 1
      trace?.note("\(threads[running].name): its sleep ends for no reason", site)
      end(kind, location)
      return true
    }
    if let deadline, deadline <= nanoseconds {
      trace?.note("\(threads[running].name): does not sleep, its deadline has passed", site)
      end(kind, location)
      return false
    }
    trace?.note("\(threads[running].name): falls asleep", site)
    end(kind, location)
    return sleep(on: location, until: deadline, site)
  }

  func futexWake(_ location: Word, count: Int, _ site: Site) {
    // A word that has ended has no relevant sleepers: futex(2) accepts any address.
    guard isScheduling, location.pointee.isAlive else { return }
    check(location, site)
    reach(.wake, location, site)
    let change = change(at: site)
    trace?.note("\(threads[running].name): wakes \(count == .max ? "all" : "\(count)")", site)
    end(.wake, location)
    if change == .skips { return }
    wake(location, count: change == .wakesOne ? 1 : count)
  }

  // MARK: The clock, and nondeterministic results

  /// Reads the clock. A deadline that ends a sleep moves the clock. If that may happen at any time,
  /// a reading is a step. If it happens only when no thread can move, no thread reads the clock
  /// meanwhile.
  func readClock(_ site: Site) -> UInt64 {
    if isScheduling && options.timeOuts > 0 {
      reach(.clock, nil, site)
      record(.clock, nil)
    }
    return nanoseconds
  }

  /// Whether a system call is refused here. Both outcomes are explored while the thread's allowance
  /// lasts.
  func mayRefuse(_ site: Site) -> Bool {
    guard isScheduling, threads[running].refusalsLeft > 0 else { return false }
    reach(.local, nil, site)
    let refuses = choice(of: 2) == 1
    if refuses { threads[running].refusalsLeft -= 1 }
    trace?.note(
      "\(threads[running].name): a system call \(refuses ? "is refused" : "succeeds")", site)
    record(.local, nil)
    return refuses
  }
}
