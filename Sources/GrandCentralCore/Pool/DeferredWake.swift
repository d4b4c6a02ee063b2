// Room: Pool/DeferredWake. Whether a worker wakes another one for work more urgent than its own.
// Work must not wait for items of a lower class. So a worker that submits such work while all that
// are allowed are active wakes one beyond the allowance (Pool+Classes). Most items that do so end
// right afterwards: they notify a queue of their result. Then the woken thread preempts the worker,
// runs one short item and sleeps again, for each item. So a worker learns how its items end. After
// some in a row that ended microseconds after such a submission, it wakes none, and takes the
// urgent work itself at its next pick. The monitor watches meanwhile: if the item lasts after all,
// another worker wakes up within a look or two, and the worker begins to learn anew.

struct DeferredWake {
  /// So many items in a row have ended soon before a wake-up is deferred.
  static var needed: UInt8 { 8 }
  /// An item that ends later than this after the submission has not ended soon.
  static var soonNanoseconds: UInt64 { 20_000 }

  /// When the running item first submitted more urgent work; 0: it has not.
  private var submitted: UInt64 = 0
  private var endedSoon: UInt8 = 0

  var isPending: Bool { submitted != 0 }

  /// Notes that the running item submits more urgent work. Returns whether to wake no worker.
  mutating func defers(at now: UInt64) -> Bool {
    if submitted == 0 { submitted = now }
    if now &- submitted >= Self.soonNanoseconds { endedSoon = 0 }
    return endedSoon >= Self.needed
  }

  /// Notes the end of an item that has submitted more urgent work.
  mutating func itemEnded(at now: UInt64) {
    let isSoon = now &- submitted < Self.soonNanoseconds
    endedSoon = isSoon ? min(Self.needed, endedSoon + 1) : 0
    submitted = 0
  }
}

extension Pool {
  /// Whether the calling thread, which has just published a node of `band`, wakes no worker for it.
  /// The caller then calls Monitor.watch().
  func defersWake(for band: Band, on thread: ThreadContext) -> Bool {
    guard let raw = thread.pointee.worker else { return false }
    // SAFETY: as in Blocking.announced().
    return Unmanaged<Worker>.fromOpaque(raw)._withUnsafeGuaranteedRef { worker in
      guard worker.pool === self, !worker.isExternal, worker.band != .unspecified,
        worker.band < band, beyondAllowance >= 0
      else { return false }
      return worker.deferredWake.defers(at: Clock.monotonicNanoseconds())
    }
  }
}
