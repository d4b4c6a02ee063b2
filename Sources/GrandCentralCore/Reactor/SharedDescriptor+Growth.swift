// Room: Reactor/SharedDescriptor+Growth. A regular file that grows after a source has handled its
// end. The source learns of it by a watch of the file (Sources/Descriptor/FileGrowth).

extension SharedDescriptor {
  /// Notifies an entry that has ended if its file has bytes to read now. Any thread.
  // It looks under the lock. So of two threads that look at once, the second one finds the entry
  // notified, or the bytes read.
  func notifyPastEnd(
    _ entry: DescriptorEntry, on thread: ThreadContext, ifThereAreBytes look: () -> Bool
  ) {
    let listener: Unmanaged<Lane>? = lock.withLock {
      guard entry.stage == .ended, look(), entry.word.transition(to: { $0.grown() }),
        let listener = entry.listener, listener.tryRetain()
      else { return nil }
      return listener
    }
    if let listener { tell(listener, on: thread) }
  }
}
