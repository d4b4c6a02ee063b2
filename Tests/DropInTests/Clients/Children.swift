// A program that starts children by Foundation, from an item and from a task. It blocks SIGUSR2.
import Dispatch
import Foundation

/// The signals that a child blocks, in hexadecimal.
@Sendable func maskOfChild() throws -> String {
  let (child, output) = (Process(), Pipe())
  child.executableURL = URL(fileURLWithPath: "/bin/grep")
  child.arguments = ["SigBlk", "/proc/self/status"]
  child.standardOutput = output
  try child.run()
  let text = try output.fileHandleForReading.readToEnd() ?? Data()
  child.waitUntilExit()
  return String(decoding: text, as: UTF8.self).split(whereSeparator: \.isWhitespace).last
    .map(String.init) ?? "none"
}

@main struct Children {
  static func main() async throws {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGUSR2)
    pthread_sigmask(SIG_BLOCK, &set, nil)
    let fromItem = try await withCheckedThrowingContinuation { result in
      DispatchQueue(label: "starts").async { result.resume(with: Result(catching: maskOfChild)) }
    }
    print("item=\(fromItem)")
    print("task=\(try await Task.detached { try maskOfChild() }.value)")
  }
}
