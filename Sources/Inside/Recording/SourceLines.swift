// Lines of the source, from the debug information of a file. A symbolizer of the system reads it,
// if one is installed: llvm-symbolizer(1) or addr2line(1).
import Glibc

enum SourceLines {
  private static let tools: [[String]] = [
    ["llvm-symbolizer", "--no-inlines", "--functions=none", "--output-style=GNU", "-e"],
    ["addr2line", "-e"],
  ]

  /// The lines at addresses of a file, as "name.swift:12"; `nil`: unknown.
  static func lines(in path: String, at addresses: [UInt64]) -> [String?] {
    if addresses.isEmpty { return [] }
    let numbers = addresses.map { "0x" + String($0, radix: 16) }
    for tool in tools {
      guard let text = output(of: tool + [path] + numbers) else { continue }
      let lines = text.split(separator: "\n").map(place)
      if lines.count == addresses.count { return lines }
    }
    return addresses.map { _ in nil }
  }

  /// The last part of a path with its line: "/a/b.swift:12 (discriminator 3)".
  private static func place(_ line: Substring) -> String? {
    let name = line.split(separator: "/").last.map(String.init) ?? String(line)
    let place = Snapshot.printable(String(name.prefix { $0 != " " }))
    return place.hasPrefix("?") || place.hasSuffix(":?") || place.hasSuffix(":0") ? nil : place
  }

  /// What a program prints; `nil`: it is not installed, or failed.
  private static func output(of arguments: [String]) -> String? {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    var argv = arguments.map { strdup($0) } + [nil]
    defer { for pointer in argv { free(pointer) } }
    var child = pid_t()
    let error = posix_spawnp(&child, arguments[0], &actions, nil, &argv, environ)
    close(ends[1])
    defer { close(ends[0]) }
    guard error == 0 else { return nil }
    let text = readToEnd(ends[0])
    var state: Int32 = 0
    while waitpid(child, &state, 0) < 0 && errno == EINTR {}
    return state == 0 ? text : nil
  }
}
