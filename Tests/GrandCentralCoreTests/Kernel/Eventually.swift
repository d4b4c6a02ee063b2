import TestSupport

@testable import GrandCentralCore

/// Asks again and again until `isTrue`, for what sends no event. False when it did not come in
/// time.
func eventually(seconds: Int = patienceSeconds, _ isTrue: () -> Bool) -> Bool {
  let deadline = monotonicSeconds() + Double(seconds)
  while !isTrue() {
    if monotonicSeconds() > deadline { return false }
    sleepMilliseconds(1)
  }
  return true
}
