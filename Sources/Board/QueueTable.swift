// The queues of a snapshot. Records are read in the order of their places, so a table that keeps
// this order is made without a hash for each queue, and need not be sorted to be shown.

/// Queues by place.
package struct QueueTable: Sendable {
  /// The queues in the order of their places.
  package private(set) var values: [QueueRecord] = []

  package init() {}

  package subscript(place: UInt32) -> QueueRecord? {
    let index = index(of: place)
    return index < values.count && values[index].place == place ? values[index] : nil
  }

  /// Adds a queue with a place of its own.
  mutating func insert(_ queue: QueueRecord) {
    if let last = values.last, last.place > queue.place {
      values.insert(queue, at: index(of: queue.place))
    } else {
      values.append(queue)
    }
  }

  /// The index of the first queue that is not before `place`.
  private func index(of place: UInt32) -> Int {
    var (low, high) = (0, values.count)
    while low < high {
      let middle = (low + high) / 2
      if values[middle].place < place { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
