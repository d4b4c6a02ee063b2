// What a process does when a test has waited in vain. A lost wake-up shows once in hundreds of
// runs, so the first time must tell where everybody was.
import Glibc

/// Told once in a process: more than that would be of what the first one has left behind.
private let told = Box(false)

/// Prints what each thread does and what descriptors are waited for.
public func describeStandstill() {
  let isFirst = !told.value
  told.value = true
  guard isFirst else { return }
  print("── a test has waited in vain, process \(getpid())")
  for thread in processThreads() {
    let folder = "/proc/self/task/\(thread.id)"
    let (place, call) = (contents(of: "\(folder)/wchan"), contents(of: "\(folder)/syscall"))
    print(
      "thread \(thread.id) \(thread.name): \(place ?? "?"), \((call ?? "?").prefix { $0 != "\n" })")
  }
  for number in 0..<1024 {
    // proc(5): of an epoll(7) set a line for each descriptor in it, with what is asked for.
    guard let text = contents(of: "/proc/self/fdinfo/\(number)"), text.contains("tfd:") else {
      continue
    }
    print("descriptor \(number) waits for:\n\(text)")
  }
  printStacks()
}

/// By gdb, where there is one: into a file, since while it writes nobody here can read.
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
