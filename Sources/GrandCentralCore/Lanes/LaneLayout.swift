// Room: Lanes/LaneLayout. Where the fields lie that other code reads by their offsets: the runtime
// of the thread sanitizer, through dispatch_queue_offsets.

extension Lane {
  /// The offsets of `width` and `target` from the start of a lane, in bytes. They are numbers,
  /// which a test compares with a lane, because they are needed too early to be measured: in a
  /// program that embeds the engine and loads the toolchain's libdispatch, the loader starts the
  /// engine before Swift's runtime knows the program's types. A type that the runtime does not find
  /// then stays unknown to that code for ever.
  package static var fieldOffsets: (width: Int, target: Int) { (width: 98, target: 56) }
}
