// Data of one library as data of the other, without copying a byte. Each region of the source
// becomes a region of the result, whose deallocator keeps the source.
public import Dispatch
public import GrandCentral

extension Dispatch.DispatchData {
  /// Makes data of Dispatch that shares the bytes of Grand Central's.
  ///
  /// No byte is copied: the new value has the same regions, and keeps `data` until the last value
  /// that uses them is released. Call from any thread.
  ///
  /// - Parameter data: the bytes.
  /// - Source: `dispatch_data_create(3)`, a destructor of one's own.
  public init(sharing data: GrandCentral.DispatchData) {
    self = .empty
    data.enumerateBytes { bytes, _, _ in
      // SAFETY: data is immutable, and the deallocator refers to it, so the region outlives its
      // use.
      append(
        Self(
          bytesNoCopy: UnsafeRawBufferPointer(bytes),
          deallocator: .custom(nil) { withExtendedLifetime(data) {} }))
    }
  }
}

extension GrandCentral.DispatchData {
  /// Makes data that shares the bytes of Dispatch's.
  ///
  /// No byte is copied: the new value has the same regions, and keeps `data` until the last value
  /// that uses them is released. Call from any thread.
  ///
  /// - Parameter data: the bytes.
  /// - Source: `dispatch_data_create(3)`, a destructor of one's own.
  public init(sharing data: Dispatch.DispatchData) {
    self = .empty
    data.enumerateBytes { bytes, _, _ in
      // SAFETY: as above.
      append(
        Self(
          bytesNoCopy: UnsafeRawBufferPointer(bytes),
          deallocator: .custom(nil) { withExtendedLifetime(data) {} }))
    }
  }
}
