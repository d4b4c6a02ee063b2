// Purpose: the checksum of the POSIX `cksum` utility, computed in steps of sixteen bytes.
// The polynomial is 0x04C11DB7, most significant bit first, starting from 0; the length follows the
// data, least significant byte first and without leading zeros; the result is complemented.
// Source: POSIX.1-2024, utility `cksum`; the slicing is after Kounavis and Berry, "A Systematic
// Approach to Building High Performance Software-Based CRC Generators" (2005).

/// An incremental POSIX checksum: call `update` with the bytes in order, then read `value`.
public struct PosixChecksum: Sendable {
  private var remainder: UInt32 = 0
  /// The bytes seen so far.
  public private(set) var count: UInt64 = 0

  public init() {}

  /// Appends `bytes` to the checksummed data.
  public mutating func update(_ bytes: UnsafeRawBufferPointer) {
    let table = Self.table
    var crc = remainder
    var at = 0
    while at + 16 <= bytes.count {
      let a = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self)) ^ crc
      let b = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: at + 4, as: UInt32.self))
      let c = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: at + 8, as: UInt32.self))
      let d = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: at + 12, as: UInt32.self))
      crc =
        Self.fold(a, table, slice: 12) ^ Self.fold(b, table, slice: 8)
        ^ Self.fold(c, table, slice: 4) ^ Self.fold(d, table, slice: 0)
      at += 16
    }
    while at < bytes.count {
      crc = Self.step(crc, bytes[at], table)
      at += 1
    }
    remainder = crc
    count &+= UInt64(bytes.count)
  }

  /// The checksum of the bytes seen so far.
  public var value: UInt32 {
    var crc = remainder
    var length = count
    while length > 0 {
      crc = Self.step(crc, UInt8(truncatingIfNeeded: length), Self.table)
      length >>= 8
    }
    return ~crc
  }

  /// The checksum of `bytes` alone.
  public static func of(_ bytes: [UInt8]) -> UInt32 {
    var checksum = PosixChecksum()
    bytes.withUnsafeBytes { checksum.update($0) }
    return checksum.value
  }

  @inline(__always)
  private static func step(_ crc: UInt32, _ byte: UInt8, _ table: UnsafePointer<UInt32>) -> UInt32 {
    crc << 8 ^ table[Int(UInt8(truncatingIfNeeded: crc >> 24) ^ byte)]
  }

  /// The contribution of one word of a sixteen-byte step. `slice` counts the bytes after the word.
  @inline(__always)
  private static func fold(
    _ word: UInt32, _ table: UnsafePointer<UInt32>, slice: Int
  ) -> UInt32 {
    table[(slice + 3) << 8 + Int(word >> 24)]
      ^ table[(slice + 2) << 8 + Int(word >> 16 & 0xFF)]
      ^ table[(slice + 1) << 8 + Int(word >> 8 & 0xFF)]
      ^ table[slice << 8 + Int(word & 0xFF)]
  }

  /// Sixteen slices of 256 words. Slice k holds the remainder of each byte followed by k zero
  /// bytes.
  // SAFETY: written here once, before any reader can have the pointer, and never freed.
  nonisolated(unsafe) private static let table: UnsafePointer<UInt32> = {
    let words = UnsafeMutablePointer<UInt32>.allocate(capacity: 16 * 256)
    for byte in 0..<256 {
      var crc = UInt32(byte) << 24
      for _ in 0..<8 {
        crc = crc & 0x8000_0000 != 0 ? crc << 1 ^ 0x04C1_1DB7 : crc << 1
      }
      (words + byte).initialize(to: crc)
    }
    for index in 256..<(16 * 256) {
      let before = words[index - 256]
      (words + index).initialize(to: before << 8 ^ words[Int(before >> 24)])
    }
    return UnsafePointer(words)
  }()
}
