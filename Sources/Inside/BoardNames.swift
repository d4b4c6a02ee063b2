// How the files and folders of boards are called. The engine makes the files (CLinux/BlackBox.c).
import Glibc
import GrandCentralBoard
import GrandCentralCore

enum BoardNames {
  /// The variable that names the folder in which a program makes its board as a file.
  static var variable: String { "GRANDCENTRAL_BLACKBOX" }
  /// How the folder of a `grandcentral run` begins.
  static var runFolderPrefix: String { "grandcentral-run-" }
  private static var filePrefix: String { "grandcentral-" }
  /// How /proc shows a board that is no file of a folder.
  static var anonymousFile: String { "/memfd:\(BoardLayout.fileName) " }

  /// Where folders of boards are made: the first place that works. The engine checks that the file
  /// system is in memory, and reports it if not.
  static var places: [String] {
    ["/dev/shm", getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }].compactMap(\.self)
      .filter { !$0.isEmpty }
  }

  /// The process whose board is a file of this name; `nil`: the name is of something else.
  static func process(ofFile name: some StringProtocol) -> Int? {
    guard name.hasPrefix(filePrefix) else { return nil }
    let digits = name.dropFirst(filePrefix.count)
    guard digits.utf8.allSatisfy({ 48...57 ~= $0 }), let process = Int(digits), process > 0,
      process < Int(Int32.max)
    else { return nil }
    return process
  }

  /// Whether a link in /proc, of a descriptor or a mapping, leads to a board.
  static func isBoard(_ target: String) -> Bool {
    target.hasPrefix(anonymousFile) || target.hasSuffix(" (\(BoardLayout.fileName))")
      || target.split(separator: "/").last.flatMap { process(ofFile: $0) } != nil
  }
}
