// Chapter 9: a hang, seen from outside. A child process forgets to resume a queue and waits for it.
// It reports nothing and uses no processor. The command `grandcentral` reads what its engine notes,
// and names the queue.

import Glibc
import GrandCentral

enum Hang {
  /// The argument with which the tour becomes the program that hangs.
  static let argument = "--hang"

  /// A queue that is suspended while settings are read, and not resumed on one path.
  static func cause() -> Never {
    let settings = DispatchQueue(label: "settings")
    settings.suspend()
    let isThere = access("/nonexistent/settings", R_OK) == 0
    if isThere { settings.resume() }  // The mistake: nothing resumes the queue otherwise.
    settings.sync {}
    exit(0)
  }

  /// The command, which the package builds beside this program.
  static func command() throws(Failure) -> String {
    var buffer = [CChar](repeating: 0, count: 4096)
    guard readlink("/proc/self/exe", &buffer, buffer.count - 1) > 0 else {
      throw .system("find this program", "Mount /proc.")
    }
    let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let own = String(decoding: bytes, as: UTF8.self)
    return own.prefix(upTo: own.lastIndex(of: "/") ?? own.startIndex) + "/grandcentral"
  }

  /// What the command finds in a process: it looks until there is a finding, for a minute.
  static func findings(in process: pid_t, _ tour: Tour) throws -> String {
    let file = tour.scratch + "/dump"
    let end = DispatchTime.now() + .seconds(60)
    while true {
      let ending = try Program.run(
        command(), "dump", "\(process)", "--stuck-after", "0", output: file)
      var text = ""
      try readFile(file) { text += String(decoding: $0, as: UTF8.self) }
      // 1: something is stuck. 2: the child has not used a queue yet.
      if ending == .exited(1) || DispatchTime.now() > end { return text }
      usleep(20_000)
    }
  }
}

extension Chapter {
  static let hang = Chapter(
    name: "hang", summary: "a program that hangs, explained from outside"
  ) { tour in
    let child = try Program.start(["/proc/self/exe", Hang.argument])
    let found = try Hang.findings(in: child, tour)
    kill(child, SIGKILL)
    _ = Program.wait(for: child)
    for line in found.split(separator: "\n").prefix(3) { tour.say("| \(line)") }
    tour.check(
      found.hasPrefix("Forgotten resume: queue 'settings' is suspended since "),
      "the first line names the queue and the mistake", found)
  }
}
