// Looks at another process, or at a file that one left behind.
import GrandCentralBoard

extension Dump {
  /// Looks at a live process. `path`: the board's file, where it is known.
  package init(process: Int, path: String? = nil, stuckAfter: UInt64) throws {
    let source = try path.map(BoardFile.open(path:)) ?? BoardFile.open(process: process)
    try self.init(source, process: process, stuckAfter: stuckAfter)
  }

  /// Looks at a file that a process left behind.
  package init(path: String, endedAt: UInt64? = nil, stuckAfter: UInt64 = 0) throws {
    try self.init(BoardFile.open(path: path), endedAt: endedAt, stuckAfter: stuckAfter)
  }
}
