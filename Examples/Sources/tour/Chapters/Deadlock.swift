// Chapter 8: a deadlock. Two queues wait for each other. Instead of a hang, the program stops, and
// the report names the queues and the threads. A child process does it, so that the tour continues.

import Glibc
import GrandCentral

enum Deadlock {
  /// The argument with which the tour becomes the program that deadlocks.
  static let argument = "--deadlock"

  /// Two queues, and on each an item that needs the other queue.
  static func cause() -> Never {
    let account = DispatchQueue(label: "account")
    let journal = DispatchQueue(label: "journal")
    let bothHaveBegun = DispatchGroup()
    bothHaveBegun.enter()
    bothHaveBegun.enter()
    for (first, second) in [(account, journal), (journal, account)] {
      first.async {
        bothHaveBegun.leave()
        bothHaveBegun.wait()
        second.sync {}  // The other queue's item is here too, and has not ended.
      }
    }
    dispatchMain()
  }
}

extension Chapter {
  static let deadlock = Chapter(
    name: "deadlock", summary: "two queues that wait for each other, in a child process"
  ) { tour in
    let file = tour.scratch + "/report"
    setenv("SWIFT_BACKTRACE", "enable=no", 1)  // The report is enough.
    let child = try Program.start(["/proc/self/exe", Deadlock.argument], errors: file)
    // Without a report the child would wait for ever.
    let deadline = DispatchWorkItem { kill(child, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(60), execute: deadline)
    let ending = Program.wait(for: child)
    deadline.cancel()

    var report = ""
    try readFile(file) { report += String(decoding: $0, as: UTF8.self) }
    for line in report.split(separator: "\n") { tour.say("| \(line)") }
    tour.check(
      report.contains("account") && report.contains("journal"),
      "the report names both queues", "the child has ended with \(ending)")
  }
}
