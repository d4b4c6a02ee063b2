// The folder in memory for the boards of a program that `grandcentral run` starts, and of the
// program's descendants.
// The command keeps a lock on the folder, which ends with the command, however that ends: flock(2).
// So a folder without the lock is one whose command was killed. The next command removes it, unless
// a live process has its board there.
//   made ─lock→ in use ─end of the command→ removed, or left behind
//   left behind ─lock→ removed
// A folder that is made and not locked yet looks as if it were left behind. So the command that has
// made it looks, once it has the lock, whether another one has removed it.
import Glibc

package final class RunFolder {
  let path: String
  private let descriptor: Int32

  /// How often another command may remove the new folder.
  private static var maxAttempts: Int { 8 }

  /// Makes a folder, and removes those that killed commands have left behind. `nil`: no place has
  /// room.
  static func make(in places: [String] = BoardNames.places) -> RunFolder? {
    for place in places {
      removeLeftBehind(in: place)
      for _ in 0..<maxAttempts {
        var template = Array("\(place)/\(BoardNames.runFolderPrefix)XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { break }
        let bytes = template.dropLast().map { UInt8(bitPattern: $0) }
        let path = String(decoding: bytes, as: UTF8.self)
        if let made = RunFolder(locking: path, LOCK_EX) { return made }
        // It is gone, or has no lock.
        rmdir(path)
      }
    }
    return nil
  }

  /// Takes the lock of a folder of this user. `nil`: another command has it, or has removed the
  /// folder.
  private init?(locking path: String, _ operation: Int32) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    guard flock(descriptor, operation) == 0, fstat(descriptor, &status) == 0, status.st_nlink > 0,
      status.st_uid == geteuid()
    else { return nil }
    isOwn = true
  }

  /// Whether the folder is removed with this object.
  private var isOwn = false

  deinit {
    if isOwn {
      for name in namesInFolder(path) ?? [] { unlink("\(path)/\(name)") }
      rmdir(path)
    }
    if descriptor >= 0 { close(descriptor) }
  }

  private static func removeLeftBehind(in place: String) {
    for name in namesInFolder(place) ?? [] where name.hasPrefix(BoardNames.runFolderPrefix) {
      let found = RunFolder(locking: "\(place)/\(name)", LOCK_EX | LOCK_NB)
      if found?.boards.contains(where: \.isAlive) == true { found?.isOwn = false }
    }
  }

  /// The boards in the folder, by process; `false`: the process has ended.
  var boards: [(process: Int, path: String, isAlive: Bool)] { Self.boards(in: path) }

  static func boards(in path: String) -> [(process: Int, path: String, isAlive: Bool)] {
    (namesInFolder(path) ?? []).compactMap { name in
      guard let owner = BoardNames.process(ofFile: name) else { return nil }
      return (owner, "\(path)/\(name)", Processes.isAlive(owner))
    }.sorted { $0.process < $1.process }
  }
}
