// Runs one scenario of the main queue in a separate process, because dispatchMain() never returns
// and a test runner needs its main thread. Prints name=value lines for MainQueueTests.
import Glibc
import GrandCentral
import TestSupport

@main struct MainQueueProbe {
  static func main() {
    let scenario = CommandLine.arguments.dropFirst().first ?? ""
    guard let start = scenarios[scenario] ?? mainThreadScenarios[scenario] else {
      let names = [String](scenarios.keys) + mainThreadScenarios.keys
      print("unknown scenario; there are: \(names.sorted().joined(separator: " "))")
      exit(2)
    }
    running = start
    start()
    dispatchMain()
  }

  /// Keeps the scenario: in some of them the main thread ends, and with it what its stack held.
  nonisolated(unsafe) private static var running: (() -> Void)?

  nonisolated(unsafe) private static let scenarios: [String: () -> Void] = [
    "order": order, "producers": producers, "sync": syncFromElsewhere, "target": targetsMain,
    "notify": notifications, "suspend": suspension, "specific": specifics, "before": before,
    "idle": idle, "self-sync": selfSync, "inside-sync": insideSync, "cycle": cycle,
    "not-on-main": notOnMain, "main-actor": mainActor,
  ]
}

func finish(_ values: KeyValuePairs<String, Any>) -> Never {
  for (name, value) in values { print("\(name)=\(value)") }
  fflush(nil)
  exit(0)
}

private func order() {
  let order = Unguarded<[Int]>([])
  let onMain = Unguarded(true)
  for number in 0..<100 {
    DispatchQueue.main.async {
      order.value.append(number)
      onMain.value = onMain.value && isMainThread()
    }
  }
  DispatchQueue.main.async {
    finish(["inOrder": order.value == Array(0..<100), "onMain": onMain.value])
  }
}

/// Nothing takes Concurrency over, so the main actor's jobs go to the toolchain's main queue.
private func mainActor() {
  let count = Unguarded(0)
  let onMain = Unguarded(true)
  @MainActor func hop() {
    count.value += 1
    dispatchPrecondition(condition: .onQueue(.main))
    onMain.value = onMain.value && isMainThread()
  }
  Task {
    for _ in 0..<1000 {
      await hop()
      await withCheckedContinuation { continuation in
        DispatchQueue.main.async {
          count.value += 1
          continuation.resume()
        }
      }
    }
    DispatchQueue.main.async { finish(["count": count.value, "onMain": onMain.value]) }
  }
}

private func producers() {
  let count = Unguarded(0)
  let onMain = Unguarded(true)
  for number in 0..<4 {
    _ = TestThread("producer-\(number)") {
      for _ in 0..<2500 {
        DispatchQueue.main.async {
          count.value += 1
          onMain.value = onMain.value && isMainThread()
          if count.value == 10_000 { finish(["count": count.value, "onMain": onMain.value]) }
        }
      }
    }
  }
}

private func syncFromElsewhere() {
  _ = TestThread("elsewhere") {
    let onMain = DispatchQueue.main.sync { isMainThread() }
    let barrier = DispatchQueue.main.sync(flags: .barrier) { isMainThread() }
    let ran = Box(false)
    DispatchQueue.main.sync(execute: DispatchWorkItem { ran.value = isMainThread() })
    let value = DispatchQueue.main.sync { 42 }
    finish(["onMain": onMain && barrier, "item": ran.value, "value": value])
  }
}

private func targetsMain() {
  let queue = DispatchQueue(label: "targets.main", target: .main)
  let wide = DispatchQueue(label: "targets.main.wide", attributes: .concurrent, target: queue)
  _ = TestThread("elsewhere") {
    let sync = queue.sync { isMainThread() }
    let wideSync = wide.sync { isMainThread() }
    wide.async(flags: .barrier) {
      dispatchPrecondition(condition: .onQueue(.main))
      finish(["sync": sync, "wideSync": wideSync, "async": isMainThread()])
    }
  }
}

private func notifications() {
  let group = DispatchGroup()
  let seen = Unguarded<[Bool]>([])
  for _ in 0..<10 { DispatchQueue.global().async(group: group) {} }
  group.notify(queue: .main) {
    seen.value.append(isMainThread())
    let item = DispatchWorkItem {}
    item.notify(queue: .main) {
      seen.value.append(isMainThread())
      finish(["group": seen.value[0], "item": seen.value[1]])
    }
    DispatchQueue.global().async(execute: item)
  }
}

/// The peer ignores suspend() on the main queue. On both engines work runs after resume().
private func suspension() {
  DispatchQueue.main.suspend()
  DispatchQueue.main.async { finish(["ran": isMainThread()]) }
  _ = TestThread("resumer") { DispatchQueue.main.resume() }
}

private func specifics() {
  let key = DispatchSpecificKey<String>()
  DispatchQueue.main.setSpecific(key: key, value: "main")
  DispatchQueue.main.async {
    let inside = DispatchQueue.getSpecific(key: key) ?? "nil"
    let child = DispatchQueue(label: "child", target: .main)
    child.async {
      let seen = DispatchQueue.getSpecific(key: key) ?? "nil"
      finish(["inside": inside, "child": seen, "label": DispatchQueue.main.label])
    }
  }
}

/// The main thread counts as on the main queue even before it drains it.
private func before() {
  dispatchPrecondition(condition: .onQueue(.main))
  let other = DispatchQueue(label: "other")
  other.async {
    dispatchPrecondition(condition: .notOnQueue(.main))
    DispatchQueue.main.async {
      dispatchPrecondition(condition: .onQueueAsBarrier(.main))
      finish(["held": true])
    }
  }
}

/// Waits in dispatchMain() for work that is submitted later.
private func idle() {
  _ = TestThread("late") {
    let main = Int(getpid())
    while true {
      let text = contents(of: "/proc/self/task/\(main)/stat") ?? ""
      if let end = text.lastIndex(of: ")"), text[end...].dropFirst(2).first == "S" { break }
      sleepMilliseconds(1)
    }
    DispatchQueue.main.async { finish(["onMain": isMainThread()]) }
  }
}

private func selfSync() { DispatchQueue.main.sync {} }

private func insideSync() {
  DispatchQueue.main.async { DispatchQueue.main.sync {} }
}

/// Makes a deadlock cycle: the main thread waits for a queue whose item waits for the main queue.
private func cycle() {
  let queue = DispatchQueue(label: "waits.for.main")
  let bothInside = Latch(2)
  queue.async {
    bothInside.open()
    _ = bothInside.wait()
    DispatchQueue.main.sync {}
  }
  DispatchQueue.main.async {
    bothInside.open()
    _ = bothInside.wait()
    queue.sync {}
  }
}

private func notOnMain() {
  DispatchQueue.main.async { dispatchPrecondition(condition: .notOnQueue(.main)) }
}
