// Two tasks that block each other, in a program that was not recompiled. The library names them.
import Dispatch

/// Each of two tasks holds a queue and then enters the other's.
func cross(_ one: DispatchQueue, _ other: DispatchQueue, _ both: DispatchGroup) {
  one.sync {
    both.leave()
    both.wait()
    other.sync {}
  }
}

actor Account {
  func transfer(_ one: DispatchQueue, _ other: DispatchQueue, _ both: DispatchGroup) {
    cross(one, other, both)
  }
}

@main struct Program {
  static func main() async {
    let queues = (0..<2).map { DispatchQueue(label: "queue.\($0)") }
    let both = DispatchGroup()
    for _ in 0..<2 { both.enter() }
    let account = Account()
    let one = Task.detached(name: "transfer-0") { cross(queues[0], queues[1], both) }
    let other = Task.detached(name: "transfer-1") {
      await account.transfer(queues[1], queues[0], both)
    }
    await one.value
    await other.value
  }
}
