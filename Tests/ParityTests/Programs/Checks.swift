// What both programs do. The sources of module GrandCentral are part of the same module.
import Glibc
import GrandCentralCore

private actor Counter {
  var count = 0
  func add() { count += 1 }
}

@MainActor func check() async {
  dispatchPrecondition(condition: .onQueue(.main))
  let isGlobal = await Task.detached(priority: .utility) {
    dispatchPrecondition(condition: .onQueue(.global(qos: .utility)))
    return true
  }.value
  print("global=\(isGlobal)")

  // The engine's set exists from here on.
  try? await Task.sleep(for: .milliseconds(1), clock: .dispatchUptime)
  try? await Task.sleep(for: .milliseconds(1))
  try? await Task.sleep(nanoseconds: 1_000)
  try? await Task.sleep(for: .milliseconds(1), tolerance: .milliseconds(5), clock: .suspending)
  dispatchPrecondition(condition: .onQueue(.main))
  let isMain = await withCheckedContinuation { continuation in
    DispatchQueue.main.async { continuation.resume(returning: MainActor.assumeIsolated { true }) }
  }
  print("main=\(isMain)")

  let sleeping = Task { try await Task.sleep(for: .seconds(100_000)) }
  sleeping.cancel()
  let isCancelled: Bool
  if case .failure(is CancellationError) = await sleeping.result {
    isCancelled = true
  } else {
    isCancelled = false
  }
  print("cancelled=\(isCancelled)")

  let sum = await withTaskGroup(of: Int.self) { group in
    for number in 1...1_000 {
      group.addTask {
        try? await Task.sleep(for: .microseconds(100))
        return number
      }
    }
    var sum = 0
    for await number in group { sum += number }
    return sum
  }
  print("sleeps=\(sum)")

  let counter = Counter()
  await withTaskGroup(of: Void.self) { group in
    for _ in 0..<100 { group.addTask { await counter.add() } }
  }
  print("actor=\(await counter.count)")
  print("sets=\(epollSets())")
  fflush(nil)
}

/// The epoll sets of this process. The engine has one for its timers, and so has the toolchain's
/// library once it has a timer.
private func epollSets() -> Int {
  guard let folder = opendir("/proc/self/fd") else { return -1 }
  defer { closedir(folder) }
  var sets = 0
  while let entry = readdir(folder) {
    let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    var target = [CChar](repeating: 0, count: 64)
    readlink("/proc/self/fd/\(name)", &target, 63)
    if strcmp(target, "anon_inode:[eventpoll]") == 0 { sets += 1 }
  }
  return sets
}
