// Room: Lanes/Lane+Label. Shows the lane that a worker's thread works for in the thread's name: see
// Pool/WorkerName. Once for each activation, and for each item of a concurrent queue: two words are
// compared, and the rest happens only where the thread carries another label. Threads of the
// program keep the names that the program gave them.
import CLinux

extension Lane {
  /// Names the calling thread after this lane, if it is a worker's.
  @inline(__always)
  final func showLabel(on thread: ThreadContext) {
    guard let raw = thread.pointee.worker else { return }
    // SAFETY: the thread of a worker keeps its pool, which keeps its workers.
    Unmanaged<Worker>.fromOpaque(raw)._withUnsafeGuaranteedRef { worker in
      let identity = labelIdentity
      if identity != worker.name.shown { changeName(of: worker, to: identity, on: thread) }
    }
  }

  /// After an item that was a lane itself: names the calling thread after the lane whose item it
  /// was. The inner lane's frame is gone from the thread.
  @inline(__always)
  static func showOuterLabel(on thread: ThreadContext) {
    guard thread.pointee.worker != nil, Frames(thread: thread).areNested else { return }
    Frames.innermost(thread)?.showLabel(on: thread)
  }

  @inline(never)
  private final func changeName(
    of worker: Worker, to identity: LabelIdentity, on thread: ThreadContext
  ) {
    if identity == .none {
      // A lane without a label leaves that of a lane around it.
      let shown = worker.name.shown
      if !Frames(thread: thread).contains(where: { $0.labelIdentity == shown }) {
        worker.showPlainName()
      }
    } else if worker.mayShowLabel() {
      let (text, kept) = labelAsThreadName
      worker.show(text, as: identity, kept: kept)
    } else {
      worker.showPlainName()
    }
  }
}
