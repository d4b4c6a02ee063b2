// A program that `grandcentral run` starts, and the boards of the program and of its descendants.
// The boards are files in a folder of tmpfs that belongs to this run, so they remain readable when
// the program closes its descriptors or is killed. The folder is removed with this object.
import Glibc
import GrandCentralPrimitives

/// A child process and its boards.
package final class Supervised {
  package let program: StartedProgram
  package var process: Int { program.process }
  private let folder: String?
  private let ownsFolder: Bool
  private var reported: Set<String> = []

  /// Starts a program, found by its path or on PATH, with the given LD_LIBRARY_PATH, `nil`: as it
  /// is, and signal mask.
  package init(
    _ arguments: [String], searchPath: String?, signalMask: sigset_t
  ) throws(StartedProgram.SpawnError) {
    let name = "GRANDCENTRAL_BLACKBOX"
    if let given = getenv(name), given.pointee != 0 {
      folder = String(cString: given)
      ownsFolder = false
    } else {
      folder = Self.makeFolder()
      ownsFolder = true
    }
    program = try StartedProgram(
      arguments, environment: [name: folder, "LD_LIBRARY_PATH": searchPath],
      signalMask: signalMask)
  }

  deinit {
    guard ownsFolder, let folder else { return }
    for name in namesInFolder(folder) ?? [] { unlink("\(folder)/\(name)") }
    rmdir(folder)
  }

  /// The engine checks that the file system is in memory, and reports it if not.
  private static func makeFolder() -> String? {
    let places = ["/dev/shm", getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }]
    for place in places.compactMap(\.self) where !place.isEmpty {
      var template = Array("\(place)/grandcentral-run-XXXXXX".utf8CString)
      if mkdtemp(&template) != nil {
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      }
    }
    return nil
  }

  /// Returns how the child ended; `nil` if it still runs.
  package func end() -> StartedProgram.End? { program.end() }

  // MARK: Boards

  /// The processes of this run with a file in its folder; `false`: the process has ended.
  private func files() -> [(process: Int, path: String, isAlive: Bool)] {
    guard let folder else { return [] }
    let prefix = "grandcentral-"
    return (namesInFolder(folder) ?? []).compactMap { name in
      guard name.hasPrefix(prefix), let owner = Int(name.dropFirst(prefix.count)), owner > 0,
        owner < Int(Int32.max), ownsFolder || owner == process
      else { return nil }
      return (owner, "\(folder)/\(name)", kill(pid_t(owner), 0) == 0)
    }.sorted { $0.process < $1.process }
  }

  /// Looks at the child and at its descendants. A process without a readable board is left out.
  package func dumps(stuckAfter: UInt64) -> [Dump] {
    let files = files()
    var dumps = files.filter(\.isAlive).compactMap { file in
      try? Dump(process: file.process, path: file.path, stuckAfter: stuckAfter)
    }
    if !files.contains(where: { $0.process == process }),
      let dump = try? Dump(process: process, stuckAfter: stuckAfter)
    {
      dumps.insert(dump, at: 0)
    }
    return dumps
  }

  /// The dumps with a finding that was not returned before.
  package func newlyStuck(stuckAfter: UInt64) -> [Dump] {
    dumps(stuckAfter: stuckAfter).filter { dump in
      let keys = dump.findings.map {
        "\(dump.analysis.snapshot.process) \($0.kind.rawValue) \($0.subject)"
      }
      let isNew = !reported.isSuperset(of: keys)
      reported.formUnion(keys)
      return isNew
    }
  }

  /// What hung in the processes of this run that have been killed.
  package func lastDumps(stuckAfter: UInt64) -> [Dump] {
    let now = Clock.monotonicNanoseconds()
    return files().filter { !$0.isAlive }.compactMap { file in
      try? Dump(path: file.path, endedAt: now, stuckAfter: stuckAfter)
    }.filter { !$0.findings.isEmpty }
  }
}
