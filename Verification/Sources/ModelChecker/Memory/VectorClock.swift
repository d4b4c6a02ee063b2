// Room: ModelChecker/VectorClock. What a thread has seen of each other thread, as a vector of
// times. Friedemann Mattern, "Virtual Time and Global States of Distributed Systems" (1989). Eight
// threads of at most 65,534 steps each fit one machine register, which keeps an execution cheap.

@usableFromInline typealias VectorClock = SIMD8<UInt16>

enum Threads {
  /// The maximum number of threads of an execution, including thread 0, which sets up the scene and
  /// runs the verdict.
  static let maxCount = VectorClock.scalarCount
  /// The maximum number of steps of an execution. Operations of the stage count up to the same
  /// limit.
  static let maxSteps = 65_000
}

extension VectorClock {
  /// A time that is never reached.
  static var never: VectorClock { VectorClock(repeating: .max) }

  @inline(__always)
  mutating func join(_ other: VectorClock) { self = pointwiseMax(self, other) }

  /// Whether any thread's component has reached that thread's component in `times`.
  @inline(__always)
  func reachesAny(of times: VectorClock) -> Bool { any(self .>= times) }
}
