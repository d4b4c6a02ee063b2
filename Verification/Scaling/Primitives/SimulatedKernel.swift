// Room: Primitives/Scale and Stop, and what the models' kernel asks of the checker.

/// The engine's real sizes.
@inlinable @inline(__always)
public func scaled(_ real: Int, inModels: Int) -> Int { real }

public func stopProcess(_ line: String) -> Never {
  print(line)
  exit(1)
}

public func writeReport(_ line: String) { print(line) }

/// The names by which the models' kernel (Models/Primitives/ModelKernel) reaches its machine.
enum Checker {
  static var nanoseconds: UInt64 { Clock.monotonicNanoseconds() }
  static func mayRefuse() -> Bool { false }
  static func leavesOut(file: StaticString, line: UInt32) -> Bool { false }
  static func spawn(_ name: String, _ body: @escaping () -> Void) { SimulatedThreads.spawn(body) }
}

/// The reactor of the simulated engine.
enum ModelEvents {
  nonisolated(unsafe) static var runtime: Runtime?

  static var current: Reactor {
    guard let runtime else { stopProcess("No engine is simulated.") }
    return runtime.reactor.reference { Reactor(pool: runtime.pool) }.takeUnretainedValue()
  }
}
