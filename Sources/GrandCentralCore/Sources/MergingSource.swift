// Room: Sources/MergingSource. A source whose events add up in a word until its handler is told.

class MergingSource: DispatchSource, @unchecked Sendable {
  /// What has happened since the last event. Whoever merges something signals after that.
  final let pending = Atomic<UInt64>(0)

  override final func forgetParent() {
    super.forgetParent()
    pending.store(0, ordering: .relaxed)
  }

  override func takeData() -> UInt64? {
    // acquiring: what was done before the merging is seen by the handler.
    let data = pending.exchange(0, ordering: .acquiringAndReleasing)
    return data == 0 ? nil : data
  }
}
