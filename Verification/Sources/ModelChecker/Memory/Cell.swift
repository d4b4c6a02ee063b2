// Room: ModelChecker/Cell. Plain memory that threads share under a protocol, watched for data
// races. Two accesses race if at least one writes and neither happens before the other. The vector
// clocks show that in every schedule, so an access is not a step. Cormac Flanagan, Stephen Freund,
// "FastTrack: Efficient and Precise Dynamic Race Detection" (2009).

/// The last accesses to plain memory, with their sites.
public final class Shadow {
  private var execution: UInt64 = 0
  private var writer = 0
  private var writeTime: UInt16 = 0
  private var writeSite = Site.none
  private var reads = VectorClock.zero
  private var readSites = InlineArray<8, Site>(repeating: .none)

  public init() {}

  /// Records a read; fails the execution if it races.
  public func read(_ site: Site) {
    Execution.current?._withUnsafeGuaranteedRef { execution in
      prepare(execution)
      let thread = execution.running
      let clock = execution.threads[thread].memory
      if clock[writer] < writeTime {
        fail("reads", site, "written", by: writer, at: writeSite, execution)
      }
      reads[thread] = clock[thread]
      readSites[thread] = site
    }
  }

  /// Records a write; fails the execution if it races.
  public func write(_ site: Site) {
    Execution.current?._withUnsafeGuaranteedRef { execution in
      prepare(execution)
      let thread = execution.running
      let clock = execution.threads[thread].memory
      if clock[writer] < writeTime {
        fail("writes", site, "written", by: writer, at: writeSite, execution)
      }
      if any(clock .< reads) {
        let reader = (0..<Threads.maxCount).first { clock[$0] < reads[$0] } ?? 0
        fail("writes", site, "read", by: reader, at: readSites[reader], execution)
      }
      writer = thread
      writeTime = clock[thread]
      writeSite = site
      reads = .zero
    }
  }

  @inline(__always)
  private func prepare(_ current: Execution) {
    guard execution != current.number else { return }
    execution = current.number
    writer = 0
    writeTime = 0
    reads = .zero
  }

  @inline(never)
  private func fail(
    _ verb: String, _ site: Site, _ done: String, by other: Int, at place: Site,
    _ execution: Execution
  ) -> Never {
    execution.fail(
      """
      Data race: \(Report.name(of: execution.running, execution)) \(verb) at \(Report.place(site)) \
      what was \
      \(done) at \(Report.place(place)) by \(Report.name(of: other, execution)), and nothing \
      orders the two.
      """)
  }
}

/// Mutations of plain memory are identified by the property's declaration, so they affect all its
/// accesses of a kind: `skips` omits assignments, `returns` replaces the value read. In-place
/// changes are not affected.
@usableFromInline
enum CellMutations {
  /// The checker runs one model at a time.
  @usableFromInline nonisolated(unsafe) static var areThere = false

  @usableFromInline
  static func read<Value>(_ site: Site, as type: Value.Type) -> Value? {
    guard case .returns(let bits) = Execution.withCurrent({ $0.mutations.change(at: site) }) else {
      return nil
    }
    return Bits.value(bits) as Value
  }

  @usableFromInline
  static func leavesOut(_ site: Site) -> Bool {
    Execution.withCurrent { $0.mutations.change(at: site) } == .skips
  }
}

/// A stored property that several threads use in turn: the model's version of the engine's `Cell`.
@propertyWrapper
public struct Cell<Value> {
  @usableFromInline var stored: Value
  @usableFromInline let shadow = Shadow()
  @usableFromInline let site: Site

  @inlinable
  public init(wrappedValue: Value, file: StaticString = #fileID, line: UInt32 = #line) {
    stored = wrappedValue
    site = Site(file, line)
    shadow.write(site)
  }

  @inlinable
  public var wrappedValue: Value {
    get {
      shadow.read(site)
      if CellMutations.areThere, let wrong = CellMutations.read(site, as: Value.self) {
        return wrong
      }
      return stored
    }
    set {
      shadow.write(site)
      if CellMutations.areThere, CellMutations.leavesOut(site) { return }
      stored = newValue
    }
    _modify {
      shadow.write(site)
      yield &stored
    }
  }

  /// The value, for the thread that holds the last reference to the owner. Reference counting
  /// orders this access after all others, and the checker does not see reference counts.
  @inlinable
  public var projectedValue: Value { stored }
}
