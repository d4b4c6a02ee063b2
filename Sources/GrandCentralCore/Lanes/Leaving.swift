// Room: Lanes/Leaving. The reasons for which an owner gives a lane up: see Lane+Drain.

/// Why an owner gives a lane up. The reason must hold in the word that the exchange replaces.
enum Leaving {
  case nothingIsQueued
  case suspended
  /// The width is used up: the next holder to leave makes room and continues.
  case full
  /// The first node needs the lane alone: the last holder to leave continues.
  case firstInLineIsExclusive

  func holds(in state: LaneState, of lane: Lane) -> Bool {
    switch self {
    case .nothingIsQueued: state.pending == nil
    case .suspended: state.isSuspended
    case .full: state.running >= lane.widthNow
    case .firstInLineIsExclusive: state.running > 0
    }
  }
}
