// Purpose: describes each thread of this process, for the report of a run that does not end: name,
// state, CPU time, and the kernel function in which it sleeps.
import Glibc
import TestSupport

extension Report {
  /// One line for each kind of thread.
  public static func threads() -> String {
    var counts: [String: Int] = [:]
    for thread in processThreads() { counts[describe(thread), default: 0] += 1 }
    let lines = counts.map { line, count in
      count == 1 ? "  \(line)" : "  \(line) (\(count) threads)"
    }
    return "Threads:\n" + lines.sorted().joined(separator: "\n")
  }

  private static func describe(_ thread: ThreadEntry) -> String {
    let folder = "/proc/self/task/\(thread.id)"
    // proc(5): the state is the third field; the times are the 14th and 15th. The name, in
    // parentheses, may contain blanks.
    let stat = contents(of: "\(folder)/stat") ?? ""
    let fields = stat.suffix(while: { $0 != ")" }).split(separator: " ")
    guard fields.count > 12, let user = Int(fields[11]), let kernel = Int(fields[12]) else {
      return "\(thread.name): gone"
    }
    let milliseconds = (user + kernel) * 1000 / max(1, sysconf(Int32(_SC_CLK_TCK)))
    let place = contents(of: "\(folder)/wchan") ?? "0"
    let sleep = place.isEmpty || place == "0" ? "" : " in \(place)"
    // Rounded, so that threads that do the same share a line.
    let time = milliseconds < 100 ? "less than 100" : "\(milliseconds / 100 * 100)"
    return "\(thread.name): \(fields[0])\(sleep), \(time) ms of CPU"
  }
}

extension String {
  /// Returns the longest suffix whose characters all meet the condition.
  fileprivate func suffix(while condition: (Character) -> Bool) -> Substring {
    var start = endIndex
    while start > startIndex, condition(self[index(before: start)]) { start = index(before: start) }
    return self[start...]
  }
}
