// Room: Sources/File/FileWatches+Shortage. Makes the inotify instance, and retries when the system
// refuses it or a watch.
// Retries follow Poller+Shortage. When a watch becomes available, the file's status shows what has
// happened in the meantime.

extension FileWatches: ResourceRetry {
  /// Makes the instance if it is missing. Returns 0, or the errno of the refusal.
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
    var after = DeferredActions()
    let isDone = lock.withLock {
      // If one is refused, the others would be too.
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
