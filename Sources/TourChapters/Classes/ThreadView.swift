// Purpose: how the kernel sees the calling thread, as far as any thread may ask:
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

  /// Of the calling thread.
  static var own: ThreadView { of(0) }

  /// Of the main thread, which no engine touches.
  static var main: ThreadView { of(getpid()) }

  private static func of(_ thread: pid_t) -> ThreadView {
    #if canImport(Glibc)
      let nice = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(thread))
    #else
      let nice = getpriority(Int32(PRIO_PROCESS), id_t(thread))
    #endif
    return ThreadView(policy: sched_getscheduler(thread), nice: nice)
  }

  /// Linux's numbers, which not every library has names for.
  private static let batch: Int32 = 3

  /// As this, with what of `effects` took effect.
  func with(_ effects: [DispatchQoS.Effect]) -> ThreadView {
    effects.filter { $0.refusal == nil }
      .reduce(self) { view, effect in view.with(effect.control, effect.setting) }
  }

  /// As this, with one control in effect.
  func with(_ control: DispatchQoS.Effect.Control, _ setting: String) -> ThreadView {
    var view = self
    switch control {
    case .schedulingPolicy: view.policy = Self.batch
    // A nice value ends at 19.
    case .niceLevel: view.nice = min(19, nice + (Int32(setting.dropFirst()) ?? 0))
    default: break
    }
    return view
  }

  /// Runs a background item, then as many of default as there are workers for, and says what they
  /// saw.
  static func inAndAfterBackground() -> (during: ThreadView?, after: Set<ThreadView>) {
    let seen = SeenViews()
    // Not all in one queue: what stands behind background work helps it along.
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
    // Whoever waits for a group does not hurry who is in it.
    group.wait()
    return queue.sync {
      defer { views = [] }
      return views
    }
  }
}
