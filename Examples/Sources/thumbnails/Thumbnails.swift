// Makes a small copy of each picture in a folder, the urgent ones first.
//
//   swift run -c release --package-path Examples thumbnails FROM TO [URGENT…]
//
// FROM holds pictures in the PPM format (P6); TO gets a copy of each with sides of at most 64
// points. Each picture is a work item. Those named URGENT run at class user-initiated, the others
// at utility, so the urgent ones start first when CPUs are short, and the scheduler prefers them. A
// serial queue, which needs no lock, collects the results. Ctrl-C cancels: items that have not
// begun never run, and those that run finish their file.

import Glibc
import GrandCentral

@main struct Thumbnails {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count >= 2 else {
      complain("usage: thumbnails FROM TO [URGENT…]")
      exit(2)
    }
    let words = Array(arguments)
    let batch = Batch(from: words[0], to: words[1], urgent: Set(words[2...]))
    signal(SIGINT, SIG_IGN)
    let interrupt = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
    interrupt.setEventHandler { batch.cancel() }
    interrupt.activate()
    batch.start { made, failed, cancelled in
      print("\(made) made, \(failed) failed, \(cancelled) cancelled")
      exit(failed + cancelled == 0 ? 0 : 1)
    }
    dispatchMain()
  }
}

// SAFETY: the queue guards all variables.
final class Batch: @unchecked Sendable {
  private let (from, to): (String, String)
  private let urgent: Set<String>
  private let queue = DispatchQueue(label: "thumbnails.results")
  private let workers = DispatchQueue(label: "thumbnails.workers", attributes: .concurrent)
  private let group = DispatchGroup()
  private var items: [DispatchWorkItem] = []
  private var (made, failed) = (0, 0)

  init(from: String, to: String, urgent: Set<String>) {
    (self.from, self.to, self.urgent) = (from, to, urgent)
  }

  /// Submits all pictures, and calls `whenDone` with how many were made, failed, were cancelled.
  func start(whenDone: @escaping @Sendable (Int, Int, Int) -> Void) {
    let names = pictures()
    queue.sync {
      for name in names {
        let isUrgent = urgent.contains(name)
        let item = DispatchWorkItem(qos: isUrgent ? .userInitiated : .utility, flags: .enforceQoS) {
          [self] in make(name)
        }
        items.append(item)
        // The urgent ones have a queue of their own: nothing is in line before them.
        (isUrgent ? DispatchQueue.global(qos: .userInitiated) : workers)
          .async(group: group, execute: item)
      }
    }
    group.notify(queue: queue) { [self] in
      whenDone(made, failed, names.count - made - failed)
    }
  }

  func cancel() {
    queue.async { [self] in for item in items { item.cancel() } }
  }

  private func make(_ name: String) {
    let picture = Picture(file: "\(from)/\(name)")
    let isWritten = picture?.shrunk(to: 64).write(to: "\(to)/\(name)") ?? false
    queue.async(group: group) { [self] in
      if isWritten { made += 1 } else { failed += 1 }
      print(isWritten ? "made" : "failed", name)
      fflush(nil)
    }
  }

  private func pictures() -> [String] {
    guard let folder = opendir(from) else {
      complain("cannot list '\(from)': \(String(cString: strerror(errno)))")
      exit(1)
    }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasSuffix(".ppm") { names.append(name) }
    }
    return names.sorted()
  }
}

/// Prints a line on standard error.
func complain(_ text: String) {
  let bytes = Array("thumbnails: \(text)\n".utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}
