// Room: Primitives/Clock, the simulation's side. All clocks are the simulated one.

public enum Clock {
  public static func monotonicNanoseconds() -> UInt64 { read() }
  public static func coarseNanoseconds() -> UInt64 { read() }
  public static func bootNanoseconds() -> UInt64 { read() }
  public static func wallNanoseconds() -> UInt64 { read() }

  public static func cpuNanoseconds(ofThread thread: UInt32) -> Int64? {
    let machine = Machine.current
    machine.compute(nanoseconds: machine.costs.call)
    let number = Int(thread) - Int(SimulatedThreads.firstID)
    return machine.cpuNanoseconds(ofThread: number).map { Int64($0) }
  }

  /// There are no other programs: the threads use 64 CPUs.
  public static func processCPUNanoseconds() -> UInt64 { 64 * read() }

  private static func read() -> UInt64 {
    let machine = Machine.current
    machine.compute(nanoseconds: machine.costs.clock)
    // Not near 0: the engine takes 0 for a time that was never set.
    return machine.now + 1_000_000_000
  }
}
