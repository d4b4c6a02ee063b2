// The clock, pauses, and computation of a known duration.

import CMetrics
import Glibc

/// Nanoseconds on the monotonic clock.
public func now() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Runs `body` once and returns how long it took, in nanoseconds.
public func elapsed(_ body: () -> Void) -> UInt64 {
  let start = now()
  body()
  return now() - start
}

/// Blocks the calling thread in the kernel, without announcing it to either engine.
public func sleep(microseconds: Int) {
  var left = timespec(
    tv_sec: microseconds / 1_000_000, tv_nsec: microseconds % 1_000_000 * 1_000)
  var wanted = left
  while nanosleep(&wanted, &left) != 0 && errno == EINTR { wanted = left }
}

/// Makes the compiler treat `value` as used.
@inlinable @inline(__always)
public func keep(_ value: Int) {
  metrics_keep(UInt64(truncatingIfNeeded: value))
}

/// Occupies the processor for `rounds` dependent multiplications and touches no memory.
@inline(never)
public func burn(rounds: Int) {
  var state: UInt64 = 0x9E37_79B9_7F4A_7C15
  for _ in 0..<rounds {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    metrics_keep(state)
  }
}

/// The number of `burn` rounds in a microsecond: the fastest of several tries, because other work
/// on the machine can only slow a try down.
public let roundsPerMicrosecond: Int = {
  let rounds = 200_000
  var best = UInt64.max
  for _ in 0..<9 { best = min(best, elapsed { burn(rounds: rounds) }) }
  return max(1, rounds * 1_000 / Int(max(1, best)))
}()
