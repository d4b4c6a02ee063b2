// Numbers of variable length, seven bits a byte, the lowest first, as protocol buffers have them.

/// Appends numbers and texts to bytes.
package struct ByteWriter {
  package var bytes: [UInt8] = []

  package init() {}

  package mutating func put(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Appends a number that may be negative; small ones take few bytes.
  package mutating func put(signed value: Int64) {
    put(UInt64(bitPattern: value << 1 ^ value >> 63))
  }

  package mutating func put(_ text: String) { put(Array(text.utf8)) }

  package mutating func put(_ part: [UInt8]) {
    put(UInt64(part.count))
    bytes += part
  }
}

/// Reads numbers and texts, and ends at the first that is cut off.
struct ByteReader {
  private let bytes: ArraySlice<UInt8>
  private var next: Int

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    next = bytes.startIndex
  }

  var isAtEnd: Bool { next >= bytes.endIndex }

  mutating func byte() -> UInt8? {
    guard next < bytes.endIndex else { return nil }
    defer { next += 1 }
    return bytes[next]
  }

  mutating func number() -> UInt64? {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      guard let byte = byte() else { return nil }
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
    }
    return nil
  }

  mutating func signed() -> Int64? {
    number().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
  }

  mutating func part() -> ArraySlice<UInt8>? {
    guard let count = number(), count <= UInt64(bytes.endIndex - next) else { return nil }
    defer { next += Int(count) }
    return bytes[next..<next + Int(count)]
  }

  mutating func text() -> String? {
    part().map { Snapshot.printable(String(decoding: $0.prefix(256), as: UTF8.self)) }
  }
}
