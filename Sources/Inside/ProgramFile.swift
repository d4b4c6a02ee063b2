// What the command reads of a program's file: elf(5), of 64 bits and little-endian.
import Glibc

/// A part of a program's file: a program header.
private struct Segment {
  let kind: Int
  let offset: Int
  let address: Int
  let length: Int

  static var loaded: Int { 1 }
  static var dynamic: Int { 2 }
  static var notes: Int { 4 }
}

/// Whether a file has the note of an engine (CLinux/DuplicateEngines.c).
package func containsEngine(_ path: String) -> Bool {
  let file = openToRead(path)
  guard file >= 0 else { return false }
  defer { close(file) }
  return segments(of: file).contains {
    // The notes of a program are a few hundred bytes.
    $0.kind == Segment.notes
      && hasNote(readBytes(of: file, at: $0.offset, count: min($0.length, 65536)))
  }
}

/// The folders in which the loader looks for a program's libraries before those of LD_LIBRARY_PATH:
/// its DT_RPATH, if it has no DT_RUNPATH; `nil`: none.
package func runPath(of path: String) -> String? {
  let file = openToRead(path)
  guard file >= 0 else { return nil }
  defer { close(file) }
  let parts = segments(of: file)
  guard let table = parts.first(where: { $0.kind == Segment.dynamic }) else { return nil }
  let content = readBytes(of: file, at: table.offset, count: min(table.length, 65536))
  var entries: [Int: Int] = [:]
  for start in stride(from: 0, to: content.count - 15, by: 16) {
    entries[number(content, start, 8)] = number(content, start + 8, 8)
  }
  // DT_STRTAB, DT_RPATH, DT_RUNPATH.
  guard let strings = entries[5], let name = entries[15], entries[29] == nil,
    let holder = parts.first(where: {
      $0.kind == Segment.loaded && strings >= $0.address && strings - $0.address < $0.length
    })
  else { return nil }
  // Numbers of a damaged file may be of any size.
  let place = strings - holder.address
  guard max(place, holder.offset, name) < 1 << 48 else { return nil }
  let text = readBytes(of: file, at: holder.offset + place + name, count: 4096)
  return String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
}

/// The parts of a file; none if it is no such program.
private func segments(of file: Int32) -> [Segment] {
  let header = readBytes(of: file, at: 0, count: 64)
  guard header.count == 64, header.starts(with: [0x7f, 0x45, 0x4c, 0x46, 2, 1]) else { return [] }
  let (table, size, count) = (number(header, 32, 8), number(header, 54, 2), number(header, 56, 2))
  // A damaged file may have four gigabytes of them.
  guard size >= 56, size * count <= 1 << 20 else { return [] }
  let headers = readBytes(of: file, at: table, count: size * count)
  guard headers.count == size * count else { return [] }
  return stride(from: 0, to: headers.count, by: size).map { start in
    Segment(
      kind: number(headers, start, 4), offset: number(headers, start + 8, 8),
      address: number(headers, start + 16, 8), length: number(headers, start + 32, 8))
  }
}

/// A note is three numbers, the lengths of its name and its content first, and both, padded.
private func hasNote(_ notes: [UInt8]) -> Bool {
  let name = Array("GrandCentral\0".utf8)
  var start = 0
  while start + 12 <= notes.count {
    let nameBytes = number(notes, start, 4)
    let contentBytes = number(notes, start + 4, 4)
    if notes[(start + 12)...].starts(with: name) && nameBytes == name.count { return true }
    start += 12 + (nameBytes + 3) / 4 * 4 + (contentBytes + 3) / 4 * 4
  }
  return false
}

/// A little-endian number of at most 8 bytes. One beyond the largest Int is that.
private func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int {
  let value = bytes[start..<start + count].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
  return Int(clamping: value)
}
