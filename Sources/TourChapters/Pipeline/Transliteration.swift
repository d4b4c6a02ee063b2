// Purpose: tr(1) for bytes: replaces each byte of one set by the byte at the same index of another.

import GrandCentral

struct Transliteration: Sendable {
  let first: String
  let second: String
  /// The replacement for each of the 256 bytes.
  private let table: [UInt8]

  /// - Parameters:
  ///   - first: the bytes to replace, as single characters or as a range: `a-z`.
  ///   - second: as many replacements.
  init(_ first: String, _ second: String) {
    self.first = first
    self.second = second
    var table = Array(UInt8.min...UInt8.max)
    for (old, new) in zip(Self.bytes(first), Self.bytes(second)) { table[Int(old)] = new }
    self.table = table
  }

  private static func bytes(_ set: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Array(set.utf8)[...]
    while let byte = rest.popFirst() {
      if rest.first == UInt8(ascii: "-"), let last = rest.dropFirst().first, last >= byte {
        bytes += byte...last
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }

  func callAsFunction(_ byte: UInt8) -> UInt8 { table[Int(byte)] }

  /// Returns the transliterated bytes of `data`, in memory of `buffers`.
  func callAsFunction(_ data: DispatchData, in buffers: SpareBuffers) -> DispatchData {
    buffers.data(of: data.count) { changed in
      table.withUnsafeBufferPointer { table in
        data.enumerateBytes { region, offset, _ in
          for index in region.indices { changed[offset + index] = table[Int(region[index])] }
        }
      }
    }
  }
}
