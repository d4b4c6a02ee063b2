// Conversion between Unicode encodings, by way of UTF-8. A byte order mark at the start is not part
// of the text; UTF-16 output gets one. Ill-formed text is rejected: overlong forms, lone
// surrogates, an odd byte.

enum UnicodeEncoding {
  private static let mark8: [UInt8] = [0xef, 0xbb, 0xbf]

  /// Returns UTF-8 without its byte order mark.
  static func withoutMark(_ text: [UInt8]) -> [UInt8] {
    text.starts(with: mark8) ? Array(text.dropFirst(3)) : text
  }

  /// Converts UTF-16 to UTF-8; `nil` if it is ill-formed.
  static func utf8(fromUTF16 bytes: [UInt8], isBigEndian: Bool) -> [UInt8]? {
    guard bytes.count % 2 == 0 else { return nil }
    var units = stride(from: 0, to: bytes.count, by: 2).map { index -> UInt16 in
      let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
      return isBigEndian ? first << 8 | second : second << 8 | first
    }
    // A byte-swapped byte order mark, which is not a character either.
    if units.first == 0xfffe { return nil }
    if units.first == 0xfeff { units.removeFirst() }
    return transcoded(units, from: UTF16.self, to: UTF8.self)
  }

  /// Converts UTF-8 to UTF-16 with a byte order mark, if there is any text; `nil` if it is
  /// ill-formed.
  static func utf16(fromUTF8 text: [UInt8], isBigEndian: Bool) -> [UInt8]? {
    if text.isEmpty { return [] }
    guard let units = transcoded(withoutMark(text), from: UTF8.self, to: UTF16.self) else {
      return nil
    }
    return ([0xfeff] + units).flatMap { unit -> [UInt8] in
      let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xff))
      return isBigEndian ? [high, low] : [low, high]
    }
  }

  /// Converts text of the encoding that its byte order mark names to UTF-8; text without one is
  /// UTF-8.
  static func utf8(fromAny bytes: [UInt8]) -> [UInt8]? {
    if bytes.starts(with: [0xff, 0xfe]) { return utf8(fromUTF16: bytes, isBigEndian: false) }
    if bytes.starts(with: [0xfe, 0xff]) { return utf8(fromUTF16: bytes, isBigEndian: true) }
    return bytes
  }

  private static func transcoded<From: UnicodeCodec, To: UnicodeCodec>(
    _ units: [From.CodeUnit], from: From.Type, to: To.Type
  ) -> [To.CodeUnit]? {
    var made: [To.CodeUnit] = []
    let isBroken = transcode(
      units.makeIterator(), from: from, to: to, stoppingOnError: true, into: { made.append($0) })
    return isBroken ? nil : made
  }
}
