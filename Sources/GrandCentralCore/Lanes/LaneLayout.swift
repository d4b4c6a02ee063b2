// Room: Lanes/LaneLayout. Where the fields lie that other code reads by their offsets: the runtime
// of the thread sanitizer, through dispatch_queue_offsets.

extension Lane {
  /// The offsets of `width` and `target` from the start of a lane, in bytes. Measured on a lane:
  /// the language has no offsets of a class's properties, and reflection would look for the names
  /// and types of all of them while a program starts.
  package static var fieldOffsets: (width: Int, target: Int) {
    let lane = Lane(kind: .root, qos: .unspecified, target: nil, isRegistered: false)
    let start = UnsafeRawPointer(lane.address)
    return (
      width: withUnsafePointer(to: lane.width) { UnsafeRawPointer($0) - start },
      target: withUnsafePointer(to: &lane.targetReference) { UnsafeRawPointer($0) - start }
    )
  }
}
