// Base 32 and base 64, RFC 4648. White space between letters is skipped. Text with an incomplete
// group, or with letters after its padding, is rejected; the toolchain's library loses or invents
// bytes there.

struct BaseEncoding {
  /// The bits of a letter: 5 in groups of 8 letters, or 6 in groups of 4.
  let bits: Int
  let letters: [UInt8]
  private let values: [UInt8]

  private static let upper = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
  static let base32 = BaseEncoding(5, upper + [UInt8]("234567".utf8))
  static let base32Hex = BaseEncoding(5, [UInt8]("0123456789".utf8) + upper.prefix(22))
  static let base64 = BaseEncoding(
    6, upper + upper.map { $0 | 0x20 } + [UInt8]("0123456789+/".utf8))

  private static var none: UInt8 { 0xff }
  private static var padding: UInt8 { UInt8(ascii: "=") }

  private init(_ bits: Int, _ letters: [UInt8]) {
    self.bits = bits
    self.letters = letters
    var values = [UInt8](repeating: Self.none, count: 256)
    for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
    self.values = values
  }

  /// The letters in a group, and the bytes that they encode.
  private var groupLetters: Int { bits == 5 ? 8 : 4 }
  private var groupBytes: Int { bits == 5 ? 5 : 3 }

  func encoded(_ bytes: [UInt8]) -> [UInt8] {
    var made: [UInt8] = []
    made.reserveCapacity((bytes.count + groupBytes - 1) / groupBytes * groupLetters)
    var held: UInt32 = 0
    var heldBits = 0
    for byte in bytes {
      held = held << 8 | UInt32(byte)
      heldBits += 8
      while heldBits >= bits {
        heldBits -= bits
        made.append(letter(held >> heldBits))
      }
    }
    if heldBits > 0 { made.append(letter(held << (bits - heldBits))) }
    while made.count % groupLetters != 0 { made.append(Self.padding) }
    return made
  }

  private func letter(_ value: UInt32) -> UInt8 { letters[Int(value & (1 << bits - 1))] }

  /// `nil` for invalid text.
  func decoded(_ text: [UInt8]) -> [UInt8]? {
    var made: [UInt8] = []
    var held: UInt32 = 0
    var heldBits = 0
    var count = 0
    var paddings = 0
    for byte in text {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\t"): continue
      case Self.padding: paddings += 1
      default:
        guard paddings == 0, values[Int(byte)] != Self.none else { return nil }
        held = held << bits | UInt32(values[Int(byte)])
        heldBits += bits
        if heldBits >= 8 {
          heldBits -= 8
          made.append(UInt8(truncatingIfNeeded: held >> heldBits))
        }
      }
      count += 1
    }
    // Padding replaces the letters of missing bytes, and fewer bits than a letter's are left over.
    let isWhole = count % groupLetters == 0 && heldBits < bits
    return isWhole && paddings < groupLetters ? made : nil
  }
}
