// Room: Sources/Sources+Fork. Sources in a forked child.
// The events of the parent's sources are the parent's, so the child's copies receive nothing more.
// They can be cancelled, and sources of user data merge new data. What the sources of one kind
// share starts anew with the child's first source of that kind.
import CGrandCentralLinux

extension DispatchSource {
  /// The event node is no longer on the lane, and what it would have delivered is the parent's.
  final func forgetEvent() {
    sourceState.transition(to: { $0.afterFork() })
    // Not overrides, which Swift requires in the class itself. A cast to a class takes no lock of
    // the Swift runtime.
    (self as? MergingSource)?.pending.store(0, ordering: .relaxed)
    (self as? TimerSource)?.forgetTime()
  }
}

extension SourceState {
  /// The event node is no longer on the lane.
  func afterFork() -> SourceState? { without(Self.queued) }
}

extension Watchers: ForkParticipant {
  func afterFork() {
    signals.forgetAll()
    processChanges.forgetAll()
    files.forgetAll()
    memory.forgetAll()
  }
}

// Not called leaveToParent(): these are registered with the poller, which would call that too.

extension Signals {
  /// Restores the program's actions. The wake-up descriptor is the parent's, and the thread that
  /// leaves signals open has not been copied.
  fileprivate func forgetAll() {
    lock.withLock {
      for number in entries.keys {
        _ = SignalActions.close(number)
        SignalActions.uninstall(number)
      }
      for number in closing.keys { SignalActions.uninstall(number) }
      entries = [:]
      closing = [:]
      hasThread = false
      gc_close_inherited(wakeDescriptor)
      wakeDescriptor = -1
      SignalActions.setWakeDescriptor(-1)
    }
  }
}

extension ProcessChanges {
  /// The child shares the connector.
  fileprivate func forgetAll() {
    lock.withLock {
      entries = [:]
      registration = nil
      if connector >= 0 { ProcessConnector.close(connector) }
      connector = -1
    }
  }
}

extension FileWatches {
  /// The parent would lose the events that the child reads from the instance.
  fileprivate func forgetAll() {
    lock.withLock {
      gc_close_inherited(instance)
      _ = forget()
    }
    mounts.lock.withLock {
      // The child shares the offset.
      if mounts.descriptor >= 0 { close(mounts.descriptor) }
      mounts.forget()
    }
  }
}

extension MemoryPressure {
  /// The triggers are the parent's.
  fileprivate func forgetAll() {
    lock.withLock {
      entries = []
      for trigger in triggers { close(trigger.descriptor) }
      triggers = []
      lacking = []
      level = .normal
      willLook = false
    }
  }
}

extension ProcessExit {
  /// Called by the reactor, with which the descriptor of the process is registered.
  func leaveToParent() {
    lock.withLock {
      isOver = true
      registration = nil
      if descriptor >= 0 { close(descriptor) }
      descriptor = -1
    }
  }
}
