// Room: Data/DataObject. Data as C programs know it: an object that holds a value.

package final class DataObject: DispatchObject, @unchecked Sendable {
  package let data: DispatchData

  package init(_ data: DispatchData) {
    self.data = data
    super.init()
  }

  deinit { endAttachment(on: Runtime.shared.root(.default)) }
}

extension DispatchData {
  /// The same bytes in one stretch, and where they are as long as that value lives; `nil` where there are none.
  package var contiguous: (data: DispatchData, start: UnsafePointer<UInt8>?) {
    let flat = mapped()
    return (flat, flat.base)
  }

  /// `count` bytes for the caller to write before anybody else knows of the value.
  package static func unset(count: Int) -> (data: DispatchData, start: UnsafeMutablePointer<UInt8>)
  {
    let own = OwnBytes.make(room: count)
    return (DispatchData(owner: own, base: own.start, count: count), own.start)
  }

  /// Calls `body` with each contiguous stretch as a value of its own, its place, and its bytes, until it says `false`.
  /// Returns whether all were seen.
  package func forEachRegionValue(
    _ body: (DispatchData, Int, UnsafeBufferPointer<UInt8>) -> Bool
  ) -> Bool {
    forEachRegion(in: 0..<count) { bytes, offset, stop in
      stop = !body(subdata(in: offset..<offset + bytes.count), offset, bytes)
    }
  }
}
