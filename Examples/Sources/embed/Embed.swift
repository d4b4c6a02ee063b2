// A Foundation program whose whole process runs on the engine: it only depends on
// GrandCentralDropIn.
//
//   swift run -c release --package-path Examples embed FILE…
//
// The program counts the words of files with Foundation's OperationQueue, which knows nothing of
// this project, and lets the operations add their results on a queue that it made with `import
// GrandCentral`: its view for Dispatch is the operation queue's underlying queue.

import Foundation
import GrandCentral
import GrandCentralDispatchBridge
import GrandCentralDropIn

// SAFETY: the queue guards the dictionary.
final class Counts: @unchecked Sendable {
  let queue = DispatchQueue(label: "counts")
  private var words: [String: Int] = [:]

  func add(_ count: Int, for file: String) {
    dispatchPrecondition(condition: .onQueue(queue))
    words[file] = count
  }

  var all: [(key: String, value: Int)] { queue.sync { words.sorted { $0.key < $1.key } } }
}

@main struct Embed {
  static func main() {
    let files = Array(CommandLine.arguments.dropFirst())
    let counts = Counts()
    let readers = OperationQueue()
    readers.qualityOfService = .utility
    // One engine: a queue of Dispatch that targets ours is an ordinary queue.
    let collector = OperationQueue()
    collector.underlyingQueue = counts.queue.makeDispatchQueue(label: "counts.operations")
    for file in files {
      readers.addOperation {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
          return complain("cannot read '\(file)' as UTF-8")
        }
        let count = text.split { $0.isWhitespace }.count
        collector.addOperation { counts.add(count, for: file) }
      }
    }
    readers.waitUntilAllOperationsAreFinished()
    collector.waitUntilAllOperationsAreFinished()
    for (file, count) in counts.all { print(count, file) }
    print("one engine: \(isDispatchInterposed)")
  }
}

/// Prints a line on standard error.
func complain(_ text: String) {
  let bytes = Array("embed: \(text)\n".utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}
