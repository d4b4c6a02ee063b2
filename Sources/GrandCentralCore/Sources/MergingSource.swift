// Room: Sources/MergingSource. A source that merges its events into one word until its handler
// runs.

class MergingSource: DispatchSource, @unchecked Sendable {
  /// The events since the last delivery. A thread merges first and signals afterwards.
  final let pending = Atomic<UInt64>(0)

  override func takeData() -> UInt64? {
    // acquiring: the handler sees what was done before the merging.
    let data = pending.exchange(0, ordering: .acquiringAndReleasing)
    return data == 0 ? nil : data
  }
}
