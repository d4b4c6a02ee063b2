// Purpose: DispatchData as one of Foundation's DataProtocol, as Foundation declares it for the
// toolchain's. A module and a product of its own: GrandCentral itself does not load Foundation.
public import Foundation
public import GrandCentral

extension DispatchData: DataProtocol {
  /// A stretch of bytes that lie side by side in memory. Its indices are those of the whole data.
  public struct Region: DataProtocol, ContiguousBytes {
    private let bytes: DispatchData
    /// The index of the first byte in the whole data.
    public let startIndex: Int

    init(_ bytes: DispatchData, at start: Int) {
      self.bytes = bytes
      startIndex = start
    }

    /// The index behind the last byte, in the whole data.
    public var endIndex: Int { startIndex + bytes.count }

    /// The region itself.
    public var regions: CollectionOfOne<Region> { CollectionOfOne(self) }

    /// The byte at an index.
    ///
    /// - Parameter position: an index of the whole data, within this region. Traps otherwise.
    /// - Returns: the byte.
    /// - Source: Foundation, `DataProtocol`.
    public subscript(position: Int) -> UInt8 { bytes[position - startIndex] }

    /// Calls `body` with the bytes, where they are.
    ///
    /// - Parameter body: runs once; the bytes stay until it returns.
    /// - Returns: the result of `body`.
    /// - Throws: the error of `body`.
    /// - Source: Foundation, `ContiguousBytes`.
    public func withUnsafeBytes<Result>(
      _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
      try bytes.withUnsafeBytes { (start: UnsafePointer<UInt8>) in
        try body(UnsafeRawBufferPointer(start: start, count: bytes.count))
      }
    }
  }

  /// The regions of the data, in order. Copies no bytes.
  public var regions: [Region] {
    var regions: [Region] = []
    enumerateBytes { bytes, start, _ in
      regions.append(Region(subdata(in: start..<start + bytes.count), at: start))
    }
    return regions
  }
}
