// Samples in a process of their own: this program starts itself again for one of them.

import CMetrics
import Glibc
import Metrics

enum Child {
  /// Runs the workload in a new process and returns the figures that it prints.
  static func run(_ workload: String, _ engine: Engine, count: Int) -> [Double] {
    var ends: [Int32] = [0, 0]
    if pipe(&ends) != 0 { fail("pipe: \(errno)") }
    // The child must inherit the pipe only as its standard output.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let process = spawn(
      ["bench", "--child", workload, engine.rawValue, "\(count)"], output: ends[1])
    close(ends[1])
    let text = readAll(ends[0])
    close(ends[0])
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    if status != 0 { fail("\(workload) (\(engine.rawValue)) ended with wait status \(status)") }
    return text.split(separator: " ").compactMap { Double($0) }
  }

  /// Runs the workload once in the child and prints its figures.
  static func serve(_ name: String, _ engine: Engine, count: Int) {
    guard let workload = engine.workloads.first(where: { $0.name == name }) else {
      fail("no workload '\(name)'")
    }
    let sample = Watchdog.within(seconds: 60, "\(name) (\(engine.rawValue))") {
      workload.body(count)
    }
    emit(sample.figures.map { "\($0)" }.joined(separator: " "))
  }

  private static func spawn(_ arguments: [String], output: Int32) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    defer { posix_spawn_file_actions_destroy(&actions) }
    var vector = arguments.map { strdup($0) } + [nil]
    defer { for argument in vector { free(argument) } }
    var process = pid_t()
    let failure = posix_spawn(
      &process, "/proc/self/exe", &actions, nil, &vector, metrics_environment())
    if failure != 0 { fail("posix_spawn: \(failure)") }
    return process
  }

  private static func readAll(_ descriptor: Int32) -> String {
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      let length = read(descriptor, &buffer, buffer.count)
      if length < 0 && errno == EINTR { continue }
      if length <= 0 { return String(decoding: text, as: UTF8.self) }
      text += buffer.prefix(length)
    }
  }
}
