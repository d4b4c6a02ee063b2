// Purpose: the scheduling of the calling thread as the kernel reports it to any thread, by
// sched_getscheduler(2) and getpriority(2).

import GrandCentral
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

struct ThreadView: Hashable, Sendable, CustomStringConvertible {
  var policy: Int32
  var nice: Int32

  /// The view of the calling thread.
  static var own: ThreadView { of(0) }

  /// The view of the main thread, whose scheduling no engine changes.
  static var main: ThreadView { of(getpid()) }

  private static func of(_ thread: pid_t) -> ThreadView {
    #if canImport(Glibc)
      let nice = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(thread))
    #else
      let nice = getpriority(Int32(PRIO_PROCESS), id_t(thread))
    #endif
    return ThreadView(policy: sched_getscheduler(thread), nice: nice)
  }

  /// Linux's numbers; not every C library names them.
  private static let batch: Int32 = 3

  /// This view with those of `effects` that the system did not refuse.
  func with(_ effects: [DispatchQoS.Effect]) -> ThreadView {
    effects.filter { $0.refusal == nil }
      .reduce(self) { view, effect in view.with(effect.control, effect.setting) }
  }

  /// This view with `control` set to `setting`.
  func with(_ control: DispatchQoS.Effect.Control, _ setting: String) -> ThreadView {
    var view = self
    switch control {
    case .schedulingPolicy: view.policy = Self.batch
    // The highest nice value is 19.
    case .niceLevel: view.nice = min(19, nice + (Int32(setting.dropFirst()) ?? 0))
    default: break
    }
    return view
  }

  /// Runs a background item, then twice as many default items as there are processors.
  /// - Returns: the thread's view inside the background item, and the views inside the later items.
  static func inAndAfterBackground() -> (during: ThreadView?, after: Set<ThreadView>) {
    let seen = SeenViews()
    // On separate queues: an item in one queue would boost the background work ahead of it.
    let during = seen.run(1, at: .background).first
    return (during, seen.run(2 * Machine.processors, at: .default))
  }

  var description: String {
    let names: [Int32: String] = [0: "SCHED_OTHER", Self.batch: "SCHED_BATCH"]
    return "\(names[policy] ?? "policy \(policy)"), nice \(nice)"
  }
}

// SAFETY: `views` is only touched by items of `queue`.
private final class SeenViews: @unchecked Sendable {
  private let queue = DispatchQueue(label: "tour.views")
  private var views: Set<ThreadView> = []

  func run(_ count: Int, at qosClass: DispatchQoS.QoSClass) -> Set<ThreadView> {
    let group = DispatchGroup()
    for _ in 0..<count {
      DispatchQueue.global(qos: qosClass).async(group: group) { [self] in
        let own = ThreadView.own
        queue.async(group: group) { [self] in views.insert(own) }
      }
    }
    // A wait for a group boosts none of the group's items.
    group.wait()
    return queue.sync {
      defer { views = [] }
      return views
    }
  }
}
