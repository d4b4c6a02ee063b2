import Glibc
import GrandCentral
import TestSupport

/// `count` bytes whose values show their position.
func pattern(_ count: Int, from first: Int = 0) -> [UInt8] {
  (0..<count).map { UInt8(truncatingIfNeeded: first + $0) }
}

extension DispatchData {
  /// Makes data with a copy of `bytes` in a buffer of the engine.
  init(_ bytes: [UInt8]) {
    self = bytes.withUnsafeBytes { DispatchData(bytes: $0) }
  }

  /// Makes data over a client's buffer with a copy of `bytes`. `whenFreed` runs on `queue`, by
  /// default the default global queue.
  init(client bytes: [UInt8], on queue: DispatchQueue? = nil, _ whenFreed: @escaping () -> Void) {
    let memory = heapCopy(bytes)
    self.init(
      bytesNoCopy: memory,
      deallocator: .custom(queue) {
        free(UnsafeMutableRawPointer(mutating: memory.baseAddress))
        whenFreed()
      })
  }

  /// Makes data over a client's buffer that is freed with free(3).
  init(client bytes: [UInt8]) {
    self.init(bytesNoCopy: heapCopy(bytes), deallocator: .free)
  }

  /// The offset and the length of each region.
  var regions: [(offset: Int, count: Int)] {
    var found: [(offset: Int, count: Int)] = []
    enumerateBytes { bytes, offset, _ in found.append((offset, bytes.count)) }
    return found
  }
}

private func heapCopy(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
  let memory = UnsafeMutableRawBufferPointer(
    start: malloc(max(1, bytes.count)), count: bytes.count)
  memory.copyBytes(from: bytes)
  return UnsafeRawBufferPointer(memory)
}
