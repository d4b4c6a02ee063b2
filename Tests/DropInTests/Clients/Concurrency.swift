import Dispatch

actor Counter {
  var n = 0
  func add() { n += 1 }
}

@MainActor func isOnMain() -> Bool {
  dispatchPrecondition(condition: .onQueue(.main))
  return true
}

@main struct Program {
  static func main() async throws {
    let sum = await withTaskGroup(of: Int.self) { group in
      for index in 0..<1000 { group.addTask { index } }
      return await group.reduce(0, +)
    }
    print("group=\(sum)")
    let start = ContinuousClock.now
    try await Task.sleep(for: .milliseconds(20))
    print("sleep=\(ContinuousClock.now - start >= .milliseconds(20))")
    print("main=\(await Task.detached { await isOnMain() }.value)")
    let counter = Counter()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<1000 { group.addTask { await counter.add() } }
    }
    print("actor=\(await counter.n)")
    let stream = AsyncStream { continuation in
      DispatchQueue.global().async {
        for index in 0..<10 { continuation.yield(index) }
        continuation.finish()
      }
    }
    var count = 0
    for await _ in stream { count += 1 }
    print("stream=\(count)")
    let sleeper = Task { try await Task.sleep(for: .seconds(3600)) }
    sleeper.cancel()
    let result = await sleeper.result
    if case .failure(let error) = result { print("cancelled=\(error is CancellationError)") }
    print("detached=\(await Task.detached(priority: .background) { true }.value)")
    var yields = 0
    for _ in 0..<1000 {
      await Task.yield()
      yields += 1
    }
    print("yields=\(yields)")
  }
}
