// The files that the I/O workloads of both engines read and write, and the reference programs.

import CMetrics
import Glibc
import Synchronization

/// A path in `TMPDIR`, or in /tmp.
public func scratchPath(_ name: String) -> String {
  let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
  return "\(folder)/grand-central-bench-\(getpid())-\(name)"
}

/// A file without a name, so it disappears when the process ends in any way.
public final class ScratchFile: Sendable {
  public let descriptor: Int32
  public let bytes: Int

  /// A path for other processes, valid while this process lives.
  public var path: String { "/proc/\(getpid())/fd/\(descriptor)" }

  /// Creates the file. A sparse file reads as zeros and uses no disk space.
  public init(_ name: String, bytes: Int, isSparse: Bool = false) {
    let path = scratchPath(name)
    descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    self.bytes = bytes
    unlink(path)
    if descriptor < 0 { fail("open \(path): \(errno)") }
    if isSparse {
      if ftruncate(descriptor, bytes) != 0 { fail("ftruncate: \(errno)") }
      return
    }
    var random = Random(seed: 3)
    let piece = (0..<131_072).map { _ in random.next() }
    for _ in 0..<(bytes >> 20) {
      let written = piece.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if written != 1 << 20 { fail("write \(path): \(errno)") }
    }
    // So that no later sample waits for the disk.
    fsync(descriptor)
  }

  deinit { close(descriptor) }
}

/// The file of this size for all engines, created at the first use.
public func sharedFile(mebibytes: Int) -> ScratchFile {
  sharedFiles.withLock { files in
    if let known = files[mebibytes] { return known }
    let made = ScratchFile("\(mebibytes)", bytes: mebibytes << 20)
    files[mebibytes] = made
    return made
  }
}

private let sharedFiles = Mutex<[Int: ScratchFile]>([:])

/// Paths of 10,000 files of `smallFileBytes`, which are removed when the process exits.
public let smallFiles: [String] = {
  let folder = scratchPath("small")
  if mkdir(folder, 0o700) != 0 { fail("mkdir \(folder): \(errno)") }
  let content = [UInt8](repeating: 7, count: smallFileBytes)
  let paths = (0..<10_000).map { "\(folder)/\($0)" }
  for path in paths {
    let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    if write(file, content, content.count) != content.count { fail("write \(path): \(errno)") }
    close(file)
  }
  atexit {
    for path in smallFiles { unlink(path) }
    rmdir(scratchPath("small"))
  }
  return paths
}()

public let smallFileBytes = 1_000

/// The sum of the words of `bytes`: the minimum that a program does with them.
@inline(never)
public func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
  var sum: UInt64 = 0
  let words = bytes.count & ~7
  for offset in stride(from: 0, to: words, by: 8) {
    sum &+= bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }
  for offset in words..<bytes.count { sum &+= UInt64(bytes[offset]) }
  return sum
}

/// Reads a file from its start with read(2), 1 MiB at a time. Returns its checksum.
public func plainChecksum(_ file: ScratchFile, bytes: Int) -> UInt64 {
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
  defer { buffer.deallocate() }
  lseek(file.descriptor, 0, SEEK_SET)
  var (sum, left): (UInt64, Int) = (0, bytes)
  while left > 0 {
    let count = read(file.descriptor, buffer.baseAddress, min(left, buffer.count))
    if count <= 0 { fail("read \(file.path): \(errno)") }
    sum &+= checksum(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    left -= count
  }
  return sum
}

/// Writes and reads a pipe with two threads, 64 KiB at a time. Returns the duration in nanoseconds.
public func plainPipe(bytes: Int) -> UInt64 {
  var ends: [Int32] = [0, 0]
  if pipe(&ends) != 0 { fail("pipe: \(errno)") }
  let (input, output) = (ends[0], ends[1])
  let time = together(2) { thread in
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 4096)
    buffer.initializeMemory(as: UInt8.self, repeating: 1)
    defer { buffer.deallocate() }
    var left = bytes
    while left > 0 {
      let count =
        thread == 0
        ? write(output, buffer.baseAddress, min(left, buffer.count))
        : read(input, buffer.baseAddress, buffer.count)
      if count <= 0 { fail("pipe: \(errno)") }
      left -= count
    }
  }
  close(input)
  close(output)
  return time
}

/// Runs a program that writes to /dev/null. Returns the duration in nanoseconds, with its start.
public func program(_ arguments: [String]) -> UInt64 {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
  defer { posix_spawn_file_actions_destroy(&actions) }
  var vector = arguments.map { strdup($0) } + [nil]
  defer { for argument in vector { free(argument) } }
  return elapsed {
    var process = pid_t()
    let failure = posix_spawnp(
      &process, arguments[0], &actions, nil, &vector, metrics_environment())
    if failure != 0 { fail("\(arguments[0]): \(failure)") }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    if status != 0 { fail("\(arguments) ended with wait status \(status)") }
  }
}

/// The peak resident memory of this process in bytes: `VmHWM` of /proc/self/status.
public func peakResidentBytes() -> Int { statusBytes("VmHWM:") }
