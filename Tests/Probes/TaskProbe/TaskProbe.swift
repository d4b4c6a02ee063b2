// Runs one scenario of queues, sources and channels in tasks, in a process of its own: the
// scenarios measure memory, or are programs as users write them. Prints name=value lines for
// TaskProgramTests. The arguments behind the scenario are sizes.
import Glibc
import GrandCentral
import TestSupport

@main struct TaskProbe {
  static func main() async {
    let words = CommandLine.arguments.dropFirst()
    let scenarios: [String: @Sendable () async throws -> Void] = [
      "jobs": jobQueue, "chat": chat, "supervisor": supervisor, "deadlines": deadlines,
      "abandoned": abandoned, "arriving": arriving, "cancelled-before": cancelledBefore,
      "isolated-deinit": isolatedDeinit, "sleeps": cancelledSleeps, "blocked": blocked,
      "crowd": crowd,
    ]
    guard let run = words.first.flatMap({ scenarios[$0] }) else {
      print("unknown scenario; there are: \(scenarios.keys.sorted().joined(separator: " "))")
      exit(2)
    }
    do { try await run() } catch { say("error", error) }
    fflush(nil)
  }
}

/// The argument at `index` behind the scenario, or `otherwise`.
func size(_ index: Int, otherwise: Int) -> Int {
  let words = CommandLine.arguments.dropFirst(2)
  return words.count > index ? Int(words[words.startIndex + index]) ?? otherwise : otherwise
}

func say(_ name: String, _ value: Any) { print("\(name)=\(value)") }

extension DispatchData {
  init(_ text: String) { self = Array(text.utf8).withUnsafeBytes { DispatchData(bytes: $0) } }
}
