// Room: Queues/Runtime. One engine: its pool, its root queues, its main queue.
// The public API uses `shared`. The pool, the queues and the parts made on first use belong to this
// object, so a test or a model can have an engine of its own.

final class Runtime: @unchecked Sendable {
  static let shared = makeShared()

  let pool: Pool
  /// The root queues by band. The first takes each node at its own band; it is the default target.
  let roots: [GlobalQueue]
  /// The roots for C programs that request threads beyond the width, by band.
  let overcommitRoots: [GlobalQueue]
  let main: MainQueue
  /// The main queue, for callers that must not count references.
  let mainReference: Unmanaged<Lane>
  // Made on first use.
  let reactor = LazySlot()
  let watchers = LazySlot()
  let channels = LazySlot()
  let fileWorkers = LazySlot()
  let transfers = LazySlot()

  init(pool: Pool) {
    self.pool = pool
    roots = Band.allCases.map { GlobalQueue(band: $0, pool: pool) }
    overcommitRoots = Band.allCases.map { GlobalQueue(band: $0, overcommits: true, pool: pool) }
    main = MainQueue(workers: roots[Int(Band.userInteractive.rawValue)])
    defaultTarget = Unmanaged.passUnretained(roots[0])
    mainReference = Unmanaged.passUnretained(main)
    for (index, root) in roots.enumerated() {
      pool.rootOfBand[index] = Unmanaged.passUnretained(root).toOpaque()
      pool.rootOfBand[Pool.overcommitRoots + index] =
        Unmanaged.passUnretained(overcommitRoots[index]).toOpaque()
    }
    BlackBox.setCodeReader { node, captured in
      let code = WorkNode(node).clientCode
      captured.pointee = code.captured
      return code.address
    }
    pool.whenRetriesBegin = { [main] in main.joinRetry() }
    ThreadRegistry.setExitHandler { [main, pool] in
      if $0.pointee.is_main {
        // First: it may start threads, without which no other stands in for signals.
        main.mainThreadEnds()
        SignalActions.standInForMain()
        pool.monitor.mainThreadEnds(pool)
      }
      if let worker = Pool.threadEnds($0), worker.isExternal {
        Reactor.shared.poller.threadEnds(worker)
      }
      NodeCache.drain($0)
      LaneRegistry.drain($0)
      BlackBox.noteEnd(of: $0)
    }
  }

  /// The target of queues that are given none. It lives as long as this object.
  let defaultTarget: Unmanaged<Lane>

  func root(_ band: Band) -> GlobalQueue { roots[Int(band.rawValue)] }

  var allRoots: [GlobalQueue] { roots + overcommitRoots }
}

extension Unmanaged<Lane> {
  /// The given target, which its owner keeps alive; `nil` stands for the default target.
  static func named(_ queue: DispatchQueue?) -> Unmanaged<Lane> {
    queue.map { .passUnretained($0) } ?? Runtime.shared.defaultTarget
  }
}

extension Pool.Configuration {
  /// Reads the settings of the pool from the environment. GRANDCENTRAL_WIDTH fixes the width,
  /// GRANDCENTRAL_THREADS the maximum number of threads. A number beyond the maximum means the
  /// maximum. Other values than positive numbers are reported and ignored.
  static func fromEnvironment() -> Pool.Configuration {
    let fixedWidth = positive("GRANDCENTRAL_WIDTH", atMost: 512)
    let width = fixedWidth ?? CPULimits.machine.width()
    let maxThreads = positive("GRANDCENTRAL_THREADS", atMost: 1000) ?? 1000
    var configuration = Pool.Configuration(
      width: min(width, maxThreads),
      readWidth: fixedWidth != nil
        ? nil : { @Sendable in min(CPULimits.machine.width(), maxThreads) },
      readMask: fixedWidth != nil ? nil : CPULimits.machine.affinity,
      softThreads: min(maxThreads, max(64, 4 * width)), maxThreads: maxThreads)
    configuration.hasEffects = true
    if fixedWidth == nil { configuration.hasQuota = { CPULimits.machine.hasQuota() } }
    BlackBox.setLimits(width: width, maxThreads: maxThreads)
    return configuration
  }

  private static func positive(_ name: String, atMost maximum: Int) -> Int? {
    guard let text = Process.environment(name) else { return nil }
    if let value = positive(in: text, atMost: maximum) { return value }
    report(
      .settingIgnored, "GRAND CENTRAL: \(name)='\(text)' is not a positive number and is ignored.")
    return nil
  }

  /// The positive number that a text is, at most `maximum`; `nil`: it is something else.
  static func positive(in text: String, atMost maximum: Int) -> Int? {
    if let value = Int(text) { return value > 0 ? min(value, maximum) : nil }
    // A number of any length: beyond the range of Int it is beyond the maximum too.
    let digits = text.utf8.first == UInt8(ascii: "+") ? text.utf8.dropFirst() : text.utf8[...]
    let zero = UInt8(ascii: "0")
    return !digits.isEmpty && digits.allSatisfy { zero...zero + 9 ~= $0 } ? maximum : nil
  }
}
