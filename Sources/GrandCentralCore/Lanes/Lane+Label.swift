// Room: Lanes/Lane+Label. Shows the label of the lane that a worker works for as its thread's name:
// see Pool/WorkerName.
// The check runs once per activation, and once per item of a concurrent queue. It compares two
// words; the rest runs only if the thread shows another label. Threads of the program keep the
// names that the program gave them.
import CGrandCentralLinux

extension Lane {
  /// Names the calling thread after this lane, if it is a worker's thread.
  @inline(__always)
  final func showLabel(on thread: ThreadContext) {
    guard let raw = thread.pointee.worker else { return }
    // SAFETY: the thread of a worker keeps its pool, which keeps its workers.
    Unmanaged<Worker>.fromOpaque(raw)._withUnsafeGuaranteedRef { worker in
      let identity = labelIdentity
      if identity != worker.name.shown { changeName(of: worker, to: identity, on: thread) }
    }
  }

  /// Restores the name of the outer lane, after an item that was itself a lane. The inner lane's
  /// frame is already off the thread.
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
      // A lane without a label leaves the label of an enclosing lane in place.
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
