// Room: ModelChecker/VectorClock. What a thread has seen of each other thread, as a vector of times.
// Friedemann Mattern, "Virtual Time and Global States of Distributed Systems" (1989). Eight threads of at
// most 65,534 steps each fit one machine register, which is what makes an execution cheap.

@usableFromInline typealias VectorClock = SIMD8<UInt16>

enum Threads {
  /// Threads of one execution, thread 0 included: the one that sets the scene and judges the end.
  static let most = VectorClock.scalarCount
  /// Steps of one execution. What the stage does on its own counts up to the same limit.
  static let mostSteps = 65_000
}

extension VectorClock {
  /// A time that never comes.
  static var never: VectorClock { VectorClock(repeating: .max) }

  @inline(__always)
  mutating func join(_ other: VectorClock) { self = pointwiseMax(self, other) }

  /// Whether some thread's component has reached that thread's component in `times`.
  @inline(__always)
  func reachesAny(of times: VectorClock) -> Bool { any(self .>= times) }
}
