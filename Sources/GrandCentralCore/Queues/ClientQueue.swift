// Room: Queues/ClientQueue. A queue that a C program made.
// It keeps the bytes of its label: making a string would validate them as text, and most labels are
// never read.

package final class ClientQueue: DispatchQueue, @unchecked Sendable {
  private let bytes: ClientLabel

  /// Creates a queue as `DispatchQueue.init` does. Copies the label; `nil` stands for "".
  package init(
    clientLabel: UnsafePointer<CChar>?, qos: DispatchQoS, attributes: Attributes,
    target: DispatchQueue?
  ) {
    bytes = ClientLabel(copying: clientLabel)
    super.init(
      lane: "", isConcurrent: attributes.contains(.concurrent), qos: qos,
      isInactive: attributes.contains(.initiallyInactive), target: target)
  }

  override var laneLabel: String { bytes.withCString { String(cString: $0) } }
  override var labelIdentity: LabelIdentity { LabelIdentity(start: bytes.start) }
  override var labelAsThreadName: (name: ThreadName, kept: String) {
    (ThreadName(start: bytes.start), "")
  }
  override package func copyLabel() -> UnsafeMutablePointer<CChar>? {
    bytes.withCString { strdup($0) }
  }
}

/// A label: up to 31 bytes and a zero, which fits most labels, or the address of a copy.
private struct ClientLabel: ~Copyable {
  /// The bytes, padded with zeros; or the address, and `isElsewhere`.
  private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  /// Marks the last byte, which is zero in a short label.
  private static var isElsewhere: UInt64 { 0xff << 56 }

  init(copying label: UnsafePointer<CChar>?) {
    guard let label else { return }
    let bytes = UnsafeRawBufferPointer(start: label, count: strlen(label))
    if bytes.count < 32 {
      words = (bytes.word(at: 0), bytes.word(at: 8), bytes.word(at: 16), bytes.word(at: 24))
    } else if let copy = strdup(label) {
      words.0 = UInt64(UInt(bitPattern: copy))
      words.3 = Self.isElsewhere
    } else {
      engineFault("There is no memory for the label of a queue, of \(bytes.count) bytes.")
    }
  }

  deinit { if let copy { free(copy) } }

  private var copy: UnsafeMutablePointer<CChar>? {
    words.3 == Self.isElsewhere ? UnsafeMutablePointer(bitPattern: UInt(words.0)) : nil
  }

  /// The first 16 bytes of the label, padded with zeros.
  var start: (UInt64, UInt64) {
    guard let copy else { return (words.0, words.1) }
    // SAFETY: a copy has 32 bytes at least.
    let bytes = UnsafeRawPointer(copy)
    return (
      bytes.loadUnaligned(as: UInt64.self),
      bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    )
  }

  func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    if let copy { return body(copy) }
    return withUnsafeBytes(of: words) {
      // SAFETY: the words have 32 bytes, and the last one is zero.
      body($0.assumingMemoryBound(to: CChar.self).baseAddress.unsafelyUnwrapped)
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Returns eight bytes, or as many as there are, padded with zeros. Works in registers: words
  /// that are read back from bytes just written to memory wait for each store.
  @inline(__always)
  fileprivate func word(at offset: Int) -> UInt64 {
    if offset >= count { return 0 }
    if offset + 8 <= count { return loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
    if count < 8 { return reversed().reduce(0) { $0 << 8 | UInt64($1) } }
    // The last eight bytes, some of which belong to the word before.
    let last = loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
    return last >> UInt64(8 * (offset + 8 - count))
  }
}
