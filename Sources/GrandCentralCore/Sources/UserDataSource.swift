// Room: Sources/UserDataSource. Events that the program makes itself.

/// What becomes of data that comes before the last has been told.
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
    if data == 0 { return }
    let value = UInt64(data)
    // releasing: what the caller did before is seen by the handler.
    switch merge {
    case .add: pending.wrappingAdd(value, ordering: .releasing)
    case .or: pending.bitwiseOr(value, ordering: .releasing)
    case .replace: _ = pending.exchange(value, ordering: .releasing)
    }
    signal(from: currentThread())
  }
}

extension DispatchSource: DispatchSourceUserDataAdd, DispatchSourceUserDataOr,
  DispatchSourceUserDataReplace
{
  public final func add(data: UInt) { mergeData(data, as: .add) }
  public final func or(data: UInt) { mergeData(data, as: .or) }
  public final func replace(data: UInt) { mergeData(data, as: .replace) }

  /// Makes a source whose data is added up: see `DispatchSourceUserDataAdd`.
  ///
  /// - Parameter queue: where the handlers run; `nil`: the default global queue.
  /// - Source: `DISPATCH_SOURCE_TYPE_DATA_ADD`, `dispatch_source_create(3)`.
  public class func makeUserDataAddSource(
    queue: DispatchQueue? = nil
  ) -> any DispatchSourceUserDataAdd {
    UserDataSource(.add, queue: queue)
  }

  /// Makes a source whose data is a set of bits: see `DispatchSourceUserDataOr`.
  ///
  /// - Parameter queue: where the handlers run; `nil`: the default global queue.
  /// - Source: `DISPATCH_SOURCE_TYPE_DATA_OR`, `dispatch_source_create(3)`.
  public class func makeUserDataOrSource(
    queue: DispatchQueue? = nil
  ) -> any DispatchSourceUserDataOr {
    UserDataSource(.or, queue: queue)
  }

  /// Makes a source whose data is the last value given: see `DispatchSourceUserDataReplace`.
  ///
  /// - Parameter queue: where the handlers run; `nil`: the default global queue.
  /// - Source: `DISPATCH_SOURCE_TYPE_DATA_REPLACE`, `dispatch_source_create(3)`.
  public class func makeUserDataReplaceSource(
    queue: DispatchQueue? = nil
  ) -> any DispatchSourceUserDataReplace {
    UserDataSource(.replace, queue: queue)
  }
}
