// Room: ModelChecker/Report. Descriptions of failures.

enum Report {
  static func place(_ site: Site) -> String {
    let file = site.file.description.split(separator: "/").last.map(String.init) ?? "?"
    return "\(file):\(site.line)"
  }

  static func name(of thread: Int, _ execution: Execution) -> String {
    thread == 0 ? "the stage" : execution.threads[thread].name
  }

  static var otherCourse: String {
    """
    The program took another course although the schedule was the same. It depends on something \
    that the \
    checker does not control: an address, a clock, a global that survives executions.
    """
  }

  static func deadlock(_ execution: Execution) -> String {
    var lines = ["Deadlock: no thread can move, and a thread has not finished."]
    for index in 1..<execution.threadCount where execution.threads[index].state == .asleep {
      lines.append(
        "  \(name(of: index, execution)) sleeps at \(place(execution.threads[index].pending.site))")
    }
    lines.append("If it waits for a wake-up that was sent, that wake-up was lost.")
    return lines.joined(separator: "\n")
  }
}
