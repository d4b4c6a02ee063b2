import Glibc
// A program that `grandcentral run` starts, and the boards of the program and of its descendants.
// The boards are files in a folder of tmpfs that belongs to this run, so they remain readable when
// the program closes its descriptors or is killed. The folder is removed with this object.
import GrandCentralPrimitives

/// A child process and its boards.
package final class Supervised {
  /// How the child ended.
  package enum End: Sendable, Equatable {
    case exited(Int32)
    case killed(signal: Int32)
  }

  package let process: Int
  private let folder: String?
  private let ownsFolder: Bool
  private var reported: Set<String> = []

  /// Starts a program, found by its path or on PATH, with the given signal mask. Throws `errno` as
  /// `SpawnError`.
  package init(_ arguments: [String], signalMask: sigset_t) throws {
    var variables = (readText("/proc/self/environ") ?? "").split(separator: "\0").map(String.init)
    let name = "GRANDCENTRAL_BLACKBOX"
    if let given = getenv(name), given.pointee != 0 {
      folder = String(cString: given)
      ownsFolder = false
    } else {
      folder = Self.makeFolder()
      ownsFolder = true
      variables.removeAll { $0.hasPrefix("\(name)=") }
      if let folder { variables.append("\(name)=\(folder)") }
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var mask = signalMask
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var argv = arguments.map { strdup($0) } + [nil]
    var envp = variables.map { strdup($0) } + [nil]
    defer { for pointer in argv + envp { free(pointer) } }
    var child = pid_t()
    let error = posix_spawnp(&child, arguments[0], nil, &attributes, &argv, &envp)
    process = Int(child)
    if error != 0 { throw SpawnError(errno: error) }
  }

  package struct SpawnError: Error { package let errno: Int32 }

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
  package func end() -> End? {
    var state: Int32 = 0
    guard waitpid(pid_t(process), &state, WNOHANG) == pid_t(process) else { return nil }
    let signal = state & 0x7f
    return signal == 0 ? .exited(state >> 8 & 0xff) : .killed(signal: signal)
  }

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
