// Groups that are awaited without a thread.
import GrandCentral

/// A group, of which one member never leaves, has a notification, or is awaited by a task.
let awaitedGroup = DispatchGroup()

func notifyOfGroup() {
  awaitedGroup.enter()
  awaitedGroup.notify(queue: .global()) {}
}

func awaitGroup() {
  awaitedGroup.enter()
  Task { await awaitedGroup.finished() }
}

/// Many groups with a notification, which is submitted.
func notifyOfGroups() {
  for _ in 0..<100 {
    let group = DispatchGroup()
    group.enter()
    group.notify(queue: .global()) {}
    DispatchQueue.global().async { group.leave() }
  }
}
