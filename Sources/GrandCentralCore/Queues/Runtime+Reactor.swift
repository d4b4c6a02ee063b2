// Room: Queues/Runtime+Reactor. The reactor of the shared runtime, made on first use.

extension Reactor {
  /// The reactor that the public API uses.
  #if GRANDCENTRAL_MODEL
    static var reference: Unmanaged<Reactor> { Unmanaged.passUnretained(ModelEvents.current) }
  #else
    static var reference: Unmanaged<Reactor> {
      Runtime.shared.reactor.reference {
        let made = Reactor(pool: Runtime.shared.pool)
        LaneRegistry.add(annex: { made.visitTimers($0) })
        return made
      }
    }
  #endif
  static var shared: Reactor { reference.takeUnretainedValue() }
}
