// Room: Priority/DrainRequests. The requests to drain a lane: the nodes that it has sent to its
// target. A lane that needs a drain sends a node to its target. If more urgent work arrives before
// a worker runs that node, a second node is sent in the higher band. The first node to run drains
// the lane; the other finds nothing and returns. So no node is ever removed from the middle of a
// list.
//   63…32 generation  counts changes of the target: nodes sent to an old target are void
//       8 requested   the lane is locked on behalf of the first node to run
//    5… 1 enqueued    a node of that band is in flight
//   request ─sends, unless a node as urgent is enqueued→ requested ─claim→ drained
//   requested ─raise→ requested, sends
// Invariant: each node in flight holds one reference to the lane. While requested, the lane's hold
// on itself (LaneState.held) is the reference of one of them, so there are as many references as
// nodes. The node that claims the request takes over one reference as the lane's hold; a stale node
// releases one.
// A later request of the same band reuses a node that was left behind. So there are never more
// nodes of a generation than bands, however often a lane is raised.
// A claim clears its node's bit and `requested` in the same exchange. So a requester that sees the
// bit comes before that claim, and the claim finds its request.
// A transition is exchanged even if it leaves the word as it was: README.md, "No raise is lost on
// the way", relies on it.
// Model: Verification/Models/Scenes/OverrideModels.swift.

struct DrainRequests: StateWord {
  let rawValue: UInt64

  static var requested: UInt64 { 1 << 8 }
  static var enqueuedMask: UInt64 { 0x3e }
}

extension DrainRequests {
  /// No other bits are in use.
  var isValid: Bool {
    UInt32(truncatingIfNeeded: rawValue) & ~UInt32(Self.requested | Self.enqueuedMask) == 0
  }

  var isRequested: Bool { rawValue & Self.requested != 0 }
  var generation: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }
  func isEnqueued(_ band: Band) -> Bool { rawValue >> UInt64(band.rawValue) & 1 == 1 }
  /// Whether a node of that band or a higher one is in flight.
  private func isEnqueued(from band: Band) -> Bool {
    (rawValue & Self.enqueuedMask) >> UInt64(band.rawValue) != 0
  }

  private func sending(_ band: Band) -> (DrainRequests, sends: Bool) {
    if isEnqueued(from: band) { return (self, false) }
    return (DrainRequests(rawValue: rawValue | 1 << UInt64(band.rawValue)), true)
  }

  /// Requests a drain. `sends`: the caller must send a node of that band.
  func requesting(_ band: Band) -> (DrainRequests, sends: Bool) {
    DrainRequests(rawValue: rawValue | Self.requested).sending(band)
  }

  enum Raise: Hashable {
    /// No drain is requested: a thread is inside, or the thread that locked the lane has yet to
    /// request it.
    case isTooLate
    /// A node as urgent is in flight.
    case isEnqueued
    /// The caller must send a node.
    case sends
  }

  func raised(to band: Band) -> (DrainRequests, Raise) {
    guard isRequested else { return (self, .isTooLate) }
    let (next, sends) = sending(band)
    return (next, sends ? .sends : .isEnqueued)
  }

  /// Claims the request for a node that runs. `drains`: this node drains the lane.
  func claimed(_ band: Band, generation: UInt32) -> (DrainRequests, drains: Bool) {
    guard generation == self.generation else { return (self, false) }
    let next = rawValue & ~(1 << UInt64(band.rawValue))
    return (DrainRequests(rawValue: next & ~Self.requested), isRequested)
  }

  /// Voids all nodes in flight, when the lane's target changes. A request stays.
  func withdrawn() -> DrainRequests {
    DrainRequests(rawValue: UInt64(generation &+ 1) << 32 | rawValue & Self.requested)
  }
}
