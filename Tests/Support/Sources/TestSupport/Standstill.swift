// A report of the process's state when a wait of a test times out. A lost wake-up shows once in
// hundreds of runs, so the first report must say where every thread was.
import Glibc

/// Set by the first report of a process. Later ones would show what the first timeout left behind.
private let hasReported = Box(false)

/// Prints what each thread does and which descriptors the process waits for.
public func describeStandstill() {
  let isFirst = !hasReported.value
  hasReported.value = true
  guard isFirst else { return }
  print("── a test waited until its deadline, process \(getpid())")
  for thread in processThreads() {
    let folder = "/proc/self/task/\(thread.id)"
    let (place, call) = (contents(of: "\(folder)/wchan"), contents(of: "\(folder)/syscall"))
    print(
      "thread \(thread.id) \(thread.name): \(place ?? "?"), \((call ?? "?").prefix { $0 != "\n" })")
  }
  for number in 0..<1024 {
    // proc(5): for an epoll(7) set, a line for each descriptor with its requested events.
    guard let text = contents(of: "/proc/self/fdinfo/\(number)"), text.contains("tfd:") else {
      continue
    }
    print("descriptor \(number) waits for:\n\(text)")
  }
  printStacks()
}

/// Prints all stacks with gdb, if it is installed. gdb writes to a file: this process is stopped
/// meanwhile and could not read a pipe.
private func printStacks() {
  let folder = ScratchFolder()
  let stacks = folder["stacks"]
  let command =
    "gdb -p \(getpid()) -batch -ex 'thread apply all backtrace 25' >\(stacks) 2>/dev/null"
  guard runChild(["sh", "-c", command], seconds: 120).status == 0 else { return }
  for line in (contents(of: stacks) ?? "").split(separator: "\n")
  where line.hasPrefix("Thread") || line.hasPrefix("#") {
    print(line.prefix(240))
  }
}
