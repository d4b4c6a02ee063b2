// The symbols of a file. Every byte of it may be wrong: each number is checked before it is used.
import Glibc

/// The functions of an ELF file: elf(5).
package struct SymbolFile {
  private var functions: [(address: UInt64, size: UInt64, name: Int)] = []
  private var segments: [(offset: UInt64, bytes: UInt64, address: UInt64)] = []
  private var names: ArraySlice<UInt8> = []
  private let bytes: [UInt8]

  init(path: String) {
    self.init(readBytes(path) ?? [])
  }

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    guard bytes.starts(with: [0x7f, 0x45, 0x4c, 0x46, 2, 1]) else { return }
    readSegments()
    readSymbols()
  }

  private func number(_ offset: UInt64, _ width: Int) -> UInt64? {
    guard offset <= UInt64(bytes.count), bytes.count - Int(offset) >= width else { return nil }
    return (0..<width).reduce(0) { $0 | UInt64(bytes[Int(offset) + $1]) << (8 * UInt64($1)) }
  }

  private mutating func readSegments() {
    guard let table = number(32, 8), let size = number(54, 2), let count = number(56, 2) else {
      return
    }
    for index in 0..<count {
      let entry = table &+ index &* size
      let isLoaded = number(entry, 4) == 1
      guard isLoaded, let offset = number(entry &+ 8, 8), let address = number(entry &+ 16, 8),
        let length = number(entry &+ 32, 8)
      else { continue }
      segments.append((offset, length, address))
    }
  }

  private mutating func readSymbols() {
    guard let table = number(40, 8), let size = number(58, 2), let count = number(60, 2) else {
      return
    }
    // The full table if there is one, otherwise that of the dynamic linker.
    for wanted: UInt64 in [2, 11] where functions.isEmpty {
      for index in 0..<count where number(table &+ index &* size &+ 4, 4) == wanted {
        readTable(at: table &+ index &* size, sections: table, sectionSize: size)
      }
    }
    functions.sort { $0.address < $1.address }
  }

  private mutating func readTable(
    at section: UInt64, sections: UInt64, sectionSize: UInt64
  ) {
    guard let offset = number(section &+ 24, 8), let length = number(section &+ 32, 8),
      let link = number(section &+ 40, 4),
      let text = number(sections &+ link &* sectionSize &+ 24, 8),
      let textLength = number(sections &+ link &* sectionSize &+ 32, 8),
      text <= UInt64(bytes.count), textLength <= UInt64(bytes.count) - text,
      length <= UInt64(bytes.count)
    else { return }
    names = bytes[Int(text)..<Int(text + textLength)]
    for index in 0..<length / 24 {
      let entry = offset &+ index &* 24
      // STT_FUNC, in a section.
      guard let kind = number(entry &+ 4, 1), kind & 15 == 2, number(entry &+ 6, 2) != 0,
        let name = number(entry, 4), let address = number(entry &+ 8, 8),
        let size = number(entry &+ 16, 8), name < textLength
      else { continue }
      functions.append((address, size, Int(name)))
    }
  }

  /// The address in the file's own numbers of a byte of the file.
  package func address(ofOffset offset: UInt64) -> UInt64? {
    segments.first { $0.offset <= offset && offset - $0.offset < $0.bytes }
      .map { offset - $0.offset &+ $0.address }
  }

  /// The address of the closure to which a forwarder of partial application passes a call.
  package func closure(behind address: UInt64) -> UInt64 {
    guard let symbol = function(at: address), symbol.hasSuffix("TA") else { return address }
    let wanted = Array(symbol.dropLast(2).utf8)
    let found = functions.first { names.dropFirst($0.name).starts(with: wanted + [0]) }
    return found?.address ?? address
  }

  package func function(at address: UInt64) -> String? {
    var (low, high) = (0, functions.count)
    while low < high {
      let middle = (low + high) / 2
      if functions[middle].address <= address { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return nil }
    let found = functions[low - 1]
    guard address - found.address < max(1, found.size) else { return nil }
    let text = names.dropFirst(found.name).prefix(1000).prefix { $0 != 0 }
    return String(decoding: text, as: UTF8.self)
  }
}
