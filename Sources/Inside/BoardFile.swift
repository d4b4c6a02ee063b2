// Finds the board of a process, or opens a file that outlived one, and reads its bytes. Nothing
// here makes the process do anything: it may hang, be stopped, or have ended.
// The bytes come by pread(2), not by mmap(2): a process that shrinks its file could otherwise end
// its reader with SIGBUS.
import Glibc
import GrandCentralBoard
import GrandCentralCore

/// An open file with a board.
package final class BoardFile: BoardSource {
  let descriptor: Int32

  init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  package func read(at offset: Int, into words: UnsafeMutableBufferPointer<UInt64>) -> Int {
    fill(UnsafeMutableRawBufferPointer(words), from: descriptor, at: offset) / 8
  }

  /// Returns bytes at an offset; fewer than `count` at the end of the file.
  func bytes(at offset: Int, count: Int) -> [UInt8] {
    readBytes(of: descriptor, at: offset, count: count)
  }

  /// Opens a file that a process has left behind.
  package static func open(path: String) throws -> BoardFile {
    let descriptor = openToRead(path)
    guard descriptor >= 0 else { throw InsideError("\(path): \(systemMessage())") }
    return BoardFile(descriptor: descriptor)
  }

  /// Opens the board of a live process.
  package static func open(process: Int, forWriting: Bool = false) throws -> BoardFile {
    guard Processes.isAlive(process) else {
      throw InsideError("There is no process \(process). 'grandcentral ps' lists the processes.")
    }
    // Why the board was not opened; `nil`: there is none in the folders that could be read.
    var refusal: Int32?
    for folder in ["fd", "map_files"] {
      let path = "/proc/\(process)/\(folder)"
      guard let names = namesInFolder(path) else {
        // The second folder needs privileges in the system's own namespace, which root may lack.
        if folder == "fd" { refusal = errno }
        continue
      }
      for name in names where BoardNames.isBoard(linkTarget("\(path)/\(name)")) {
        let mode = forWriting ? O_RDWR : O_RDONLY
        let descriptor = Glibc.open("\(path)/\(name)", mode | O_CLOEXEC)
        if descriptor >= 0 { return BoardFile(descriptor: descriptor) }
        refusal = errno
      }
    }
    throw InsideError(explanation(process, refusal))
  }

  private static func explanation(_ process: Int, _ refusal: Int32?) -> String {
    let maps = readText("/proc/\(process)/maps")
    if refusal == nil, let maps, maps.contains(BoardNames.anonymousFile) {
      return """
        Process \(process) has closed the descriptor of its board, and without privileges nothing \
        else leads to it. \
        Run the command as root, or start the program with \(BoardNames.variable)=DIR and dump the \
        file in DIR.
        """
    }
    if refusal == EACCES || refusal == EPERM || maps == nil {
      if geteuid() != 0, Processes.user(of: process) != geteuid() {
        return """
          Process \(process) cannot be read: it belongs to another user. Run the command as that \
          user, or as root.
          """
      }
      return """
        Process \(process) cannot be read, so whether it has a board is not known: it has \
        privileges that this command lacks, or the system forbids it (ptrace(2), "access mode \
        checking"). Run the command with the privileges of the process, or as root.
        """
    }
    if let refusal {
      let reason = String(cString: strerror(refusal))
      return "The board of process \(process) cannot be opened: \(reason)."
    }
    return """
      Process \(process) has no board. It does not run on Grand Central, has not used a queue yet, \
      or the system \
      refused memory for the board.
      """
  }
}

/// What /proc says. Each read may fail: the process may end at any time.
package enum Processes {
  /// Whether there is such a process. One of another user may not get signals, and is there.
  package static func isAlive(_ process: Int) -> Bool {
    kill(pid_t(process), 0) == 0 || errno == EPERM
  }

  /// The processes of which a board can be read.
  package static func all() -> [(process: Int, name: String)] {
    (namesInFolder("/proc") ?? []).compactMap { Int($0) }.sorted().compactMap { process in
      let path = "/proc/\(process)/fd"
      guard let names = namesInFolder(path),
        names.contains(where: { BoardNames.isBoard(linkTarget("\(path)/\($0)")) })
      else { return nil }
      return (process, name(of: process))
    }
  }

  /// The effective user of a process; `nil`: not known.
  static func user(of process: Int) -> uid_t? {
    // Real, effective, saved: proc_pid_status(5). The owner of the folder is another one where the
    // process may not be dumped.
    let lines = readText("/proc/\(process)/status")?.split(separator: "\n")
    let words = lines?.first { $0.hasPrefix("Uid:") }?.split(separator: "\t")
    return words.flatMap { $0.count > 2 ? uid_t($0[2]) : nil }
  }

  static func name(of process: Int) -> String {
    readText("/proc/\(process)/comm").map { String($0.prefix { $0 != "\n" }) } ?? "?"
  }
}
