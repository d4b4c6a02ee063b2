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

extension DropInChoice {
  /// The library without the engine that a program finds before those of LD_LIBRARY_PATH, through
  /// an RPATH of its own: ld.so(8); `nil`: none.
  package static func libraryBefore(searchPathOf program: String) -> String? {
    guard let program = canonical(located(program)), let folders = runPath(of: program) else {
      return nil
    }
    let origin = program.prefix(upTo: program.lastIndex(of: "/") ?? program.startIndex)
    let first = folders.split(separator: ":").lazy.compactMap { folder in
      canonical(
        "\(folder)/libdispatch.so".replacing("${ORIGIN}", with: origin)
          .replacing("$ORIGIN", with: origin))
    }.first
    return first.flatMap { containsEngine($0) ? nil : $0 }
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
