// Room: Sources/UserData/UserDataSource. Sources whose events the program makes itself.

/// How data combines with data that no event handler has taken yet.
enum DataMerge { case add, or, replace }

private final class UserDataSource: MergingSource, @unchecked Sendable {
  private let merge: DataMerge

  init(_ merge: DataMerge, queue: DispatchQueue?) {
    self.merge = merge
    super.init(queue: queue)
  }

  override var laneLabel: String { "source of user data" }

  override func mergeData(_ data: UInt) { mergeData(data, as: merge) }

  override func mergeData(_ data: UInt, as asked: DataMerge) {
    require(
      asked == merge,
      "\(asked)(data:) on a source that was made to \(merge). Call \(merge)(data:), or make another."
    )
    let value = UInt64(data)
    // releasing: the handler sees what the caller did before.
    switch merge {
    case .add: pending.wrappingAdd(value, ordering: .releasing)
    case .or: pending.bitwiseOr(value, ordering: .releasing)
    // 0 takes back what waits: an event that is due already finds nothing.
    case .replace: _ = pending.exchange(value, ordering: .releasing)
    }
    if value != 0 { signal(from: currentThread()) }
  }
}

extension DispatchSource: DispatchSourceUserDataAdd, DispatchSourceUserDataOr,
  DispatchSourceUserDataReplace
{
  /// Adds to the data of the next event: see `DispatchSourceUserDataAdd`. Any thread.
  ///
  /// Stops the process with a message on a source that was made for another operation.
  ///
  /// - Parameter data: the number to add; 0 causes no event. The sum wraps around.
  /// - Source: `dispatch_source_merge_data(3)`.
  public final func add(data: UInt) { mergeData(data, as: .add) }
  /// Sets bits in the data of the next event: see `DispatchSourceUserDataOr`. Any thread.
  ///
  /// Stops the process with a message on a source that was made for another operation.
  ///
  /// - Parameter data: the bits to set; 0 causes no event.
  /// - Source: `dispatch_source_merge_data(3)`.
  public final func or(data: UInt) { mergeData(data, as: .or) }
  /// Replaces the data of the next event: see `DispatchSourceUserDataReplace`. Any thread.
  ///
  /// Stops the process with a message on a source that was made for another operation.
  ///
  /// - Parameter data: the new value; 0 causes no event, and takes back a value that waits.
  /// - Source: `dispatch_source_merge_data(3)`.
  public final func replace(data: UInt) { mergeData(data, as: .replace) }

  /// Makes a source that adds up its data: see `DispatchSourceUserDataAdd`.
  ///
  /// - Parameter queue: the queue that the handlers run on; `nil`: the default global queue.
  /// - Returns: the source, inactive.
  /// - Source: `DISPATCH_SOURCE_TYPE_DATA_ADD`, `dispatch_source_create(3)`.
  public class func makeUserDataAddSource(
    queue: DispatchQueue? = nil
  ) -> any DispatchSourceUserDataAdd {
    UserDataSource(.add, queue: queue)
  }

  /// Makes a source whose data is a set of bits: see `DispatchSourceUserDataOr`.
  ///
  /// - Parameter queue: the queue that the handlers run on; `nil`: the default global queue.
  /// - Returns: the source, inactive.
  /// - Source: `DISPATCH_SOURCE_TYPE_DATA_OR`, `dispatch_source_create(3)`.
  public class func makeUserDataOrSource(
    queue: DispatchQueue? = nil
  ) -> any DispatchSourceUserDataOr {
    UserDataSource(.or, queue: queue)
  }

  /// Makes a source whose data is the last value set: see `DispatchSourceUserDataReplace`.
  ///
  /// - Parameter queue: the queue that the handlers run on; `nil`: the default global queue.
  /// - Returns: the source, inactive.
  /// - Source: `DISPATCH_SOURCE_TYPE_DATA_REPLACE`, `dispatch_source_create(3)`.
  public class func makeUserDataReplaceSource(
    queue: DispatchQueue? = nil
  ) -> any DispatchSourceUserDataReplace {
    UserDataSource(.replace, queue: queue)
  }
}
