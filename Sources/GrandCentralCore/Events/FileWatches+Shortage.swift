// Room: Events/FileWatches+Shortage. The inotify instance, and what happens when the system refuses it or a watch.
// What cannot be watched for now is asked for again: Poller+Shortage. When a watch is to be had at last, the file's
// status tells what has happened meanwhile.

extension FileWatches: Lacking {
  /// Makes the instance if it is not there. Returns 0, or the errno that it was refused with.
  func prepare() -> Int32 {
    let set = poller.prepare()
    return lock.withLock {
      if instance >= 0 { return 0 }
      switch poller.open(for: self, in: set, Inotify.make) {
      case .failure(let refusal): return refusal.number
      case .success(let own): (instance, registration) = own
      }
      return 0
    }
  }

  func tryAgain(on thread: ThreadContext) -> Bool {
    guard prepare() == 0 else { return false }
    var after = Aftermath()
    let isDone = lock.withLock {
      // The first that is refused speaks for all.
      while let entry = lacking.last, place(entry, &after) {
        if lacking.last === entry { lacking.removeLast() }
      }
      for number in parentless { placeParent(number, &after) }
      return lacking.isEmpty && parentless.isEmpty
    }
    after.shortage = 0
    conclude(after, on: thread)
    becameReady(.readable, on: thread)
    return isDone
  }
}
