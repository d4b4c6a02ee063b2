// The library on which `run` and `record` start a program: the drop-in libdispatch.so that is
// installed with the command, so that a program which was never recompiled gets this engine.
// A program that contains the engine is left as it is: with the library it would have two copies,
// which do not cooperate.
import Glibc

/// How a program gets its libdispatch.so.
package enum DropInChoice: Equatable {
  /// From the installation of the command, if there is one and the program has no engine.
  case installed
  /// From this folder.
  case folder(String)
  /// From where the program finds it.
  case none

  /// No folder with a library.
  package struct MissingLibrary: Error, CustomStringConvertible {
    let folder: String
    package var description: String {
      "There is no libdispatch.so in \(folder). Name the folder of a drop-in library."
    }
  }

  /// Returns the value of LD_LIBRARY_PATH for a program, found by its path or on PATH; `nil`: as it
  /// is. The command's own program is `command`.
  package func searchPath(
    for program: String, command: String = linkTarget("/proc/self/exe")
  ) throws(MissingLibrary) -> String? {
    let present = variable("LD_LIBRARY_PATH")
    let chosen: String
    switch self {
    case .none: return nil
    case .folder(let folder):
      guard let path = canonical(folder), access("\(path)/libdispatch.so", R_OK) == 0 else {
        throw MissingLibrary(folder: folder)
      }
      chosen = path
    case .installed:
      // PREFIX/bin/grandcentral, PREFIX/lib/grandcentral/libdispatch.so.
      guard let folder = canonical("\(command)/../../lib/grandcentral"),
        access("\(folder)/libdispatch.so", R_OK) == 0, !containsEngine(located(program)),
        !present.split(separator: ":").contains(where: { containsEngine("\($0)/libdispatch.so") })
      else { return nil }
      chosen = folder
    }
    return present.isEmpty ? chosen : "\(chosen):\(present)"
  }
}

private func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }

/// The absolute path without links. Of "FILE/..", the folder of the file.
private func canonical(_ path: String) -> String? {
  var parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
  while let index = parts.firstIndex(of: ".."), index > 0, parts[index - 1] != ".." {
    parts.removeSubrange(index - 1...index)
  }
  guard let found = realpath(parts.joined(separator: "/"), nil) else { return nil }
  defer { free(found) }
  return String(cString: found)
}

/// The file that posix_spawnp(3) starts.
private func located(_ program: String) -> String {
  if program.contains("/") { return program }
  let folders = getenv("PATH").map { String(cString: $0) } ?? "/bin:/usr/bin"
  return folders.split(separator: ":").lazy.map { "\($0)/\(program)" }
    .first { access($0, X_OK) == 0 } ?? program
}

/// Whether an ELF file has the note of an engine (CLinux/DuplicateEngines.c): elf(5).
package func containsEngine(_ path: String) -> Bool {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { return false }
  defer { close(file) }
  let header = bytes(of: file, at: 0, count: 64)
  // Of 64 bits, little-endian.
  guard header.count == 64, header.starts(with: [0x7f, 0x45, 0x4c, 0x46, 2, 1]) else {
    return false
  }
  let (table, size, count) = (number(header, 32, 8), number(header, 54, 2), number(header, 56, 2))
  let headers = bytes(of: file, at: table, count: size * count)
  guard size >= 56, headers.count == size * count else { return false }
  return stride(from: 0, to: headers.count, by: size).contains { start in
    let isNote = number(headers, start, 4) == 4
    // The notes of a program are a few hundred bytes.
    let length = min(number(headers, start + 32, 8), 65536)
    return isNote
      && hasNote(bytes(of: file, at: number(headers, start + 8, 8), count: length))
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

/// The bytes at an offset; none if the file is shorter.
private func bytes(of file: Int32, at offset: Int, count: Int) -> [UInt8] {
  guard offset >= 0, count > 0, count <= 1 << 20 else { return [] }
  return [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
    read = max(0, pread(file, buffer.baseAddress, count, off_t(offset)))
  }
}

/// A little-endian number of at most 8 bytes. One beyond the largest Int is that.
private func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int {
  let value = bytes[start..<start + count].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
  return Int(clamping: value)
}
