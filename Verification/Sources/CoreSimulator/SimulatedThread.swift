// Room: CoreSimulator/SimulatedThread. One thread of the simulated program, on a fiber.
import CFibers

final class SimulatedThread {
  enum State { case running, waitingForCore, asleep, finished }

  let number: Int
  let body: () -> Void
  let fiber = UnsafeMutablePointer<gc_fiber>.allocate(capacity: 1)
  var state = State.waitingForCore
  /// What the program knows of the thread: see Machine.tag.
  let tag: UnsafeMutableRawPointer?
  /// The core that it runs on, or last ran on.
  var core: Int?
  /// Its own time. No other thread runs a step before a thread whose time is earlier.
  var now: UInt64 = 0
  var cpuNanoseconds: UInt64 = 0
  var sliceBegan: UInt64 = 0

  /// Counts its sleeps, so that a late deadline is recognised.
  var sleeps: UInt64 = 0
  var sleepsOn: UnsafeRawPointer?
  var hasTimedOut = false

  static var stackBytes: Int { 256 * 1024 }

  init(number: Int, tag: UnsafeMutableRawPointer?, _ body: @escaping () -> Void) {
    self.number = number
    self.tag = tag
    self.body = body
    fiber.initialize(to: gc_fiber())
  }
}
