// Prints a hash of each file below some folders, on all CPUs, with few files open at once.
//
//   swift run -c release --package-path Examples hash [--open COUNT] PATH…
//
// The main thread walks the folders and submits an item for each file. A semaphore bounds how many
// items are under way: the walk waits when COUNT files are open, so neither descriptors nor memory
// grow with the number of files. The hash is FNV-1a of 64 bits, good enough to find equal files.

import Glibc
import GrandCentral
import Synchronization

@main struct Hash {
  static func main() {
    var paths = Array(CommandLine.arguments.dropFirst())
    var limit = 32
    if paths.first == "--open" {
      guard paths.count > 1, let count = Int(paths[1]), count > 0 else { usage() }
      limit = count
      paths.removeFirst(2)
    }
    if paths.isEmpty { usage() }

    let job = HashJob(limit: limit)
    for path in paths { job.walk(path) }
    let results = job.finish()
    for (path, hash) in results.hashes.sorted(by: { $0.key < $1.key }) {
      let digits = String(hash, radix: 16)
      print(String(repeating: "0", count: 16 - digits.utf8.count) + digits, path)
    }
    for failure in results.failures.sorted() { complain(failure) }
    complain("\(results.hashes.count) files, at most \(results.mostOpen) open at once")
    exit(results.failures.isEmpty ? 0 : 1)
  }

  static func usage() -> Never {
    complain("usage: hash [--open COUNT] PATH…")
    exit(2)
  }
}

final class HashJob: Sendable {
  struct Results {
    var hashes: [String: UInt64] = [:]
    var failures: [String] = []
    var open = 0
    var mostOpen = 0
  }

  private let permits: DispatchSemaphore
  private let group = DispatchGroup()
  private let results = Mutex(Results())

  init(limit: Int) { permits = DispatchSemaphore(value: limit) }

  /// Submits every file below `path`. Blocks while too many are under way.
  func walk(_ path: String) {
    guard let folder = opendir(path) else {
      if errno == ENOTDIR { submit(path) } else { fail(path) }
      return
    }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let kind = Int(entry.pointee.d_type)
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name == "." || name == ".." { continue }
      if kind == DT_DIR { walk("\(path)/\(name)") }
      if kind == DT_REG { submit("\(path)/\(name)") }
    }
  }

  func finish() -> Results {
    group.wait()
    return results.withLock { $0 }
  }

  private func submit(_ path: String) {
    permits.wait()
    DispatchQueue.global(qos: .utility).async(group: group) { [self] in
      defer { permits.signal() }
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return fail(path) }
      results.withLock {
        $0.open += 1
        $0.mostOpen = max($0.mostOpen, $0.open)
      }
      let hash = hash(ofDescriptor: descriptor)
      close(descriptor)
      results.withLock { $0.open -= 1 }
      guard let hash else { return fail(path) }
      results.withLock { $0.hashes[path] = hash }
    }
  }

  private func fail(_ path: String) {
    let reason = String(cString: strerror(errno))
    results.withLock { $0.failures.append("cannot read '\(path)': \(reason)") }
  }
}

/// Returns the hash of all bytes; `nil` with errno if they cannot be read.
func hash(ofDescriptor descriptor: Int32) -> UInt64? {
  var hash: UInt64 = 0xcbf2_9ce4_8422_2325
  return withUnsafeTemporaryAllocation(byteCount: 65536, alignment: 16) { buffer in
    while true {
      let count = read(descriptor, buffer.baseAddress, buffer.count)
      if count == 0 { return hash }
      if count < 0 {
        if errno == EINTR { continue }
        return nil
      }
      for byte in buffer[..<count] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
  }
}

/// Prints a line on standard error.
func complain(_ text: String) {
  let bytes = Array("hash: \(text)\n".utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}
