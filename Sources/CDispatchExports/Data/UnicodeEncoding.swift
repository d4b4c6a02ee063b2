// Text in the Unicode encodings. In between it is UTF-8. A byte order mark at the start is not part of the text; UTF-16
// gets one. Text that is not well formed is refused: overlong forms, halves of pairs, an odd byte.

enum UnicodeEncoding {
  private static let mark8: [UInt8] = [0xef, 0xbb, 0xbf]

  /// UTF-8 without its mark.
  static func withoutMark(_ text: [UInt8]) -> [UInt8] {
    text.starts(with: mark8) ? Array(text.dropFirst(3)) : text
  }

  /// UTF-16 as UTF-8; `nil`: not well formed.
  static func utf8(fromUTF16 bytes: [UInt8], isBigEndian: Bool) -> [UInt8]? {
    guard bytes.count % 2 == 0 else { return nil }
    var units = stride(from: 0, to: bytes.count, by: 2).map { index -> UInt16 in
      let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
      return isBigEndian ? first << 8 | second : second << 8 | first
    }
    // The mark with its bytes exchanged, which is no character either.
    if units.first == 0xfffe { return nil }
    if units.first == 0xfeff { units.removeFirst() }
    return transcoded(units, from: UTF16.self, to: UTF8.self)
  }

  /// UTF-8 as UTF-16 with a mark, if there is any text; `nil`: not well formed.
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

  /// Whichever encoding the mark tells, as UTF-8; without one it is UTF-8.
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
