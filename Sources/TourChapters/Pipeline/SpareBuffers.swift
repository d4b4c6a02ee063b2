// Purpose: data objects whose buffers are reused when their last user releases them. The allocator
// would keep what a thread frees for that thread, so memory would grow with the threads.

import GrandCentral

// SAFETY: `spare` is only touched by items of `queue`.
final class SpareBuffers: @unchecked Sendable {
  private let bufferBytes: Int
  private let queue = DispatchQueue(label: "tour.buffers")
  private var spare: [UnsafeMutableRawBufferPointer] = []

  /// - Parameter bufferBytes: the size of a buffer. Longer data has memory of its own.
  init(bufferBytes: Int) { self.bufferBytes = bufferBytes }

  deinit { for buffer in spare { buffer.deallocate() } }

  /// Returns data of `count` bytes, which `fill` writes.
  func data(
    of count: Int, fill: (UnsafeMutableRawBufferPointer) -> Void
  ) -> DispatchData {
    if count == 0 { return .empty }
    let buffer =
      queue.sync { count <= bufferBytes ? spare.popLast() : nil }
      ?? .allocate(byteCount: max(count, bufferBytes), alignment: 4096)
    let used = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
    fill(used)
    return DispatchData(
      bytesNoCopy: UnsafeRawBufferPointer(used),
      deallocator: .custom(queue) { self.takeBack(buffer) })
  }

  private func takeBack(_ buffer: UnsafeMutableRawBufferPointer) {
    if buffer.count > bufferBytes { return buffer.deallocate() }
    spare.append(buffer)
  }
}
