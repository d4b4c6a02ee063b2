// Room: Data/DataObject. The object that holds a value of data for C programs.

package final class DataObject: DispatchObject, @unchecked Sendable {
  package let data: DispatchData

  package init(_ data: DispatchData) {
    self.data = data
    super.init()
  }

  deinit { endAttachment() }
}

extension DispatchData {
  /// The same bytes in one contiguous stretch, and its address, valid as long as that value; `nil`
  /// if there are no bytes.
  package var contiguous: (data: DispatchData, start: UnsafePointer<UInt8>?) {
    let flat = mapped()
    return (flat, flat.base)
  }

  /// Returns `count` unset bytes. The caller writes them before it shares the value.
  package static func unset(count: Int) -> (data: DispatchData, start: UnsafeMutablePointer<UInt8>)
  {
    let own = OwnBytes.make(room: count)
    return (DispatchData(owner: own, base: own.start, count: count), own.start)
  }

  /// Calls `body` with each contiguous stretch, as a value, its offset and its bytes, until it
  /// returns false. Returns whether `body` saw all stretches.
  package func forEachRegionValue(
    _ body: (DispatchData, Int, UnsafeBufferPointer<UInt8>) -> Bool
  ) -> Bool {
    forEachRegion(in: 0..<count) { bytes, offset, stop in
      stop = !body(subdata(in: offset..<offset + bytes.count), offset, bytes)
    }
  }
}
