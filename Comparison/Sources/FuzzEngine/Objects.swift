// Purpose: makes the engine's objects for a program, with those faults that change an object.

import FuzzKit

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

// SAFETY: its properties are constant, and the engine's objects are thread-safe.
final class Objects: @unchecked Sendable {
  let queues: [DispatchQueue]
  let groups: [DispatchGroup]
  let semaphores: [DispatchSemaphore]
  /// The queue that tasks prefer while they are not on their actor.
  let hops = DispatchQueue(label: "hops")
  private let start = DispatchTime.now().uptimeNanoseconds

  static let keys = (0..<specificKeyCount).map { _ in DispatchSpecificKey<Int>() }
  private static let qualities: [DispatchQoS] = [
    .unspecified, .background, .utility, .default, .userInitiated, .userInteractive,
  ]
  private static let classes: [DispatchQoS.QoSClass] = [
    .default, .background, .utility, .default, .userInitiated, .userInteractive,
  ]
  private static let labels = (0..<64).map { "queue \($0)" }

  init(_ program: Program, fault: Fault?) {
    // A queue's target has a higher number, so it is made first.
    var made: [DispatchQueue] = []
    let count = program.queues.count
    for number in program.queues.indices.reversed() {
      let spec = program.queues[number]
      let queue = Self.queue(
        number, spec, target: spec.target.map { made[count - 1 - $0] }, fault: fault)
      for key in 0..<specificKeyCount where spec.specifics & 1 << key != 0 {
        queue.setSpecific(key: Self.keys[key], value: number + 1)
      }
      made.append(queue)
    }
    queues = made.reversed()
    groups = program.groups.map { _ in DispatchGroup() }
    semaphores = program.semaphores.map {
      DispatchSemaphore(value: $0.value + (fault == .extraPermit ? 1 : 0))
    }
  }

  private static func queue(
    _ number: Int, _ spec: QueueSpec, target: DispatchQueue?, fault: Fault?
  ) -> DispatchQueue {
    switch spec.kind {
    case .main: return .main
    case .global: return .global(qos: classes[spec.qos])
    case .serial, .concurrent: break
    }
    var attributes: DispatchQueue.Attributes = []
    if spec.kind == .concurrent || fault == .overlaps { attributes.insert(.concurrent) }
    if spec.isInactive && fault != .ignoresInactivity { attributes.insert(.initiallyInactive) }
    return DispatchQueue(
      label: labels[number], qos: qualities[spec.qos], attributes: attributes, target: target)
  }

  func qos(_ number: Int) -> DispatchQoS { Self.qualities[number] }

  /// Nanoseconds since the run began, by the engine's clock.
  var nanoseconds: Int { Int(DispatchTime.now().uptimeNanoseconds - start) }

  func nanoseconds(of deadline: DispatchTime) -> Int { Int(deadline.uptimeNanoseconds - start) }
}
