let model = Model("group: two leave, one waits") { scene in
  ModelThreads.reset()
  let group = DispatchGroup(spinLimit: 0)
  let done = Tally()
  group.enter()
  group.enter()
  for _ in 0..<2 {
    scene.thread {
      done.one()
      group.leave()
    }
  }
  scene.thread {
    group.wait()
    Checker.expect(done.count == 2, "waiter woke early")
  }
}
final class Tally {
  @Cell var first = 0
  let atomic = Atomic<Int>(0)
  func one() { atomic.wrappingAdd(1, ordering: .relaxed) }
  var count: Int { atomic.load(ordering: .relaxed) }
}
for weak in [false, true] {
  var options = Options()
  options.isWeak = weak
  let outcome = model.check(options)
  print(outcome, Double(outcome.executions) / outcome.seconds)
  if let failure = outcome.failure { for line in failure.steps { print(line.thread, line.text, line.site.file, line.site.line) } }
}
