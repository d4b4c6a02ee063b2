// A program that `grandcentral run` starts, and the boards of the program and of its descendants.
// The boards are files in a folder of tmpfs that belongs to this run, so they remain readable when
// the program closes its descriptors or is killed. The folder is removed with this object, also if
// the program cannot be started.
import Glibc
import GrandCentralPrimitives

/// A child process and its boards.
package final class Supervised {
  package let program: StartedProgram
  package var process: Int { program.process }
  private let folder: String?
  /// `nil`: the folder is that of the user's variable, or there is none.
  private let ownFolder: RunFolder?
  private var reported: Set<String> = []

  /// Starts a program, found by its path or on PATH, with the given LD_LIBRARY_PATH, `nil`: as it
  /// is, and signal mask. `places`: where the folder may be made, if not in the usual places.
  package init(
    _ arguments: [String], searchPath: String?, signalMask: sigset_t,
    places: [String]? = nil
  ) throws(StartedProgram.SpawnError) {
    let name = BoardNames.variable
    if let given = getenv(name), given.pointee != 0 {
      folder = String(cString: given)
      ownFolder = nil
    } else {
      ownFolder = RunFolder.make(in: places ?? BoardNames.places)
      folder = ownFolder?.path
    }
    program = try StartedProgram(
      arguments, environment: [name: folder, "LD_LIBRARY_PATH": searchPath],
      signalMask: signalMask)
  }

  /// Returns how the child ended; `nil` if it still runs.
  package func end() -> StartedProgram.End? { program.end() }

  // MARK: Boards

  /// The processes of this run with a file in its folder; `false`: the process has ended.
  private func files() -> [(process: Int, path: String, isAlive: Bool)] {
    guard let folder else { return [] }
    return RunFolder.boards(in: folder).filter { ownFolder != nil || $0.process == process }
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
