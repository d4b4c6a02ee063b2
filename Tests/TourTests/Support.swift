// Purpose: helpers that the tour's tests share: a folder of generated files, and the engines.

import Glibc
import Testing
import TourJob
import TourJobDispatch
import TourKit

/// A folder that is deleted with its last reference.
final class MadeFolder: Sendable {
  let path: Path

  init() throws {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/tour-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil, let real = realpath(template, nil) else {
      throw MakingFailed(what: "a folder in \(base)", code: errno)
    }
    defer { free(real) }
    path = Path(cString: real)
  }

  deinit {
    var folders = [path]
    var emptied: [Path] = []
    while let folder = folders.popLast() {
      emptied.append(folder)
      _ = folder.withCString { chmod($0, 0o700) }
      guard let stream = folder.withCString({ opendir($0) }) else { continue }
      while let entry = readdir(stream) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
        if name == [46] || name == [46, 46] { continue }
        let child = name.withUnsafeBufferPointer {
          folder.appending(name: $0.baseAddress!, count: name.count)
        }
        if EntryKind(of: child) == .folder {
          folders.append(child)
        } else {
          _ = child.withCString { unlink($0) }
        }
      }
      closedir(stream)
    }
    for folder in emptied.reversed() { _ = folder.withCString { rmdir($0) } }
  }

  @discardableResult
  func folder(_ name: String) throws -> Path {
    let folder = path.appending(name)
    guard folder.withCString({ mkdir($0, 0o700) }) == 0 else {
      throw MakingFailed(what: name, code: errno)
    }
    return folder
  }

  @discardableResult
  func file(_ name: String, _ bytes: [UInt8] = []) throws -> Path {
    try file(at: path.appending(name), bytes)
  }

  @discardableResult
  func file(at path: Path, _ bytes: [UInt8] = []) throws -> Path {
    let descriptor = path.withCString { open($0, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600) }
    guard descriptor >= 0 else { throw MakingFailed(what: "\(path)", code: errno) }
    Machine.put(bytes, to: descriptor)
    close(descriptor)
    return path
  }

  /// Creates a sparse file, too large to be read to its end.
  func endlessFile(_ name: String) throws { try file(name, holding: 1 << 38) }

  /// Creates a sparse file of this many zeros.
  @discardableResult
  func file(_ name: String, holding bytes: Int) throws -> Path {
    let file = try file(name)
    guard file.withCString({ truncate($0, off_t(bytes)) }) == 0 else {
      throw MakingFailed(what: name, code: errno)
    }
    return file
  }

  func link(_ name: String, to target: String) {
    _ = path.appending(name).withCString { symlink(target, $0) }
  }

  /// Creates some hundred files, with lengths around the step sizes of the checksum and of reading.
  func fill() throws {
    var random = SeededNumbers(seed: 2009)
    for index in 0..<12 {
      let name = "folder \(index)"
      try folder(name)
      try folder("\(name)/deeper")
      for (step, length) in [0, 1, 15, 16, 17, 300, 4096, 70_000].enumerated() {
        let bytes = (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        try file("\(name)/\(step).h", bytes)
        try file("\(name)/deeper/.hidden-\(step)", bytes.reversed())
      }
    }
    link("link", to: "folder 1")
    link("nowhere", to: "does not exist")
    try folder("empty")
    // This name is not UTF-8, which file systems on Linux allow.
    try file(at: path.appending(name: [0xFF, 0x2E, 0x63], count: 3), [1, 2, 3])
  }

  static let filledFiles = 12 * 16 + 1
  static let filledFolders = 12 * 2 + 2
}

struct MakingFailed: Error {
  let what: String
  let code: Int32
}

/// Numbers that are the same in every run: xorshift64*.
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_F491_4F6C_DD1D
  }
}

extension Engine {
  /// The engines that compile the job's shared source.
  static let concurrent: [Engine] = [.dispatch, .grandCentral]

  /// Runs the job in this process.
  func report(on root: Path, descriptorLimit: Int = 64) async -> RunReport {
    let gauge = Gauge(intervalNanoseconds: nil)
    return await withCheckedContinuation { continuation in
      switch self {
      case .serial:
        continuation.resume(returning: SerialLoop(root: root, gauge: gauge).run())
      case .dispatch:
        TourJobDispatch.ConcurrentJob(root: root, descriptorLimit: descriptorLimit, gauge: gauge)
          .start { continuation.resume(returning: $0) }
      case .grandCentral:
        TourJob.ConcurrentJob(root: root, descriptorLimit: descriptorLimit, gauge: gauge)
          .start { continuation.resume(returning: $0) }
      }
    }
  }
}
