import Glibc
import GrandCentral

/// The FNV-1a hash of a file, or `nil` if the file cannot be read.
func hash(ofFile path: String) -> UInt64? {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { return nil }
  defer { close(file) }
  var hash: UInt64 = 0xcbf2_9ce4_8422_2325
  var bytes = [UInt8](repeating: 0, count: 64 << 10)
  while true {
    let count = read(file, &bytes, bytes.count)
    guard count > 0 else { return count == 0 ? hash : nil }
    for byte in bytes.prefix(count) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
  }
}

/// Calls `visit` with the path of each regular file below a folder.
func walk(_ folder: String, visit: (String) -> Void) {
  guard let stream = opendir(folder) else { return }
  defer { closedir(stream) }
  while let entry = readdir(stream) {
    let name = withUnsafeBytes(of: &entry.pointee.d_name) {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
    switch Int(entry.pointee.d_type) {
    case Int(DT_DIR) where name != "." && name != "..":
      walk("\(folder)/\(name)", visit: visit)
    case Int(DT_REG): visit("\(folder)/\(name)")
    default: break
    }
  }
}

/// The sum of all hashes. All access is on one serial queue.
final class Results: @unchecked Sendable {
  private let queue = DispatchQueue(label: "hasher.results")
  private var sum: UInt64 = 0

  func add(_ hash: UInt64) { queue.async { self.sum &+= hash } }
  var total: UInt64 { queue.sync { sum } }
}

let results = Results()
let files = DispatchQueue(label: "hasher.files", qos: .utility, attributes: .concurrent)
let group = DispatchGroup()
let descriptors = DispatchSemaphore(value: 16)

let walking = DispatchWorkItem(qos: .utility) {
  walk(CommandLine.arguments.dropFirst().first ?? "/etc/apt") { path in
    descriptors.wait()
    files.async(group: group) {
      defer { descriptors.signal() }
      results.add(hash(ofFile: path) ?? 0)
    }
  }
}
DispatchQueue.global(qos: .utility).async(group: group, execute: walking)

signal(SIGINT, SIG_IGN)
let interrupt = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
interrupt.setEventHandler {
  print("So far:", results.total)
  exit(1)
}
interrupt.activate()

group.notify(queue: .main) {
  print(results.total)
  exit(0)
}
dispatchMain()
