// Room: QoS/LegacyPriority. The four priorities that global queues had before the QoS classes.

/// A global queue's priority as older programs pass it. The raw values are the C API's.
///
/// - Source: `dispatch/queue.h`, DISPATCH_QUEUE_PRIORITY_HIGH and its siblings.
enum LegacyPriority: Int, CaseIterable, Sendable {
  case high = 2
  case `default` = 0
  case low = -2
  case background = -32768

  /// The QoS class that replaces the priority.
  var qosClass: DispatchQoS.QoSClass {
    switch self {
    case .high: .userInitiated
    case .default: .default
    case .low: .utility
    case .background: .background
    }
  }
}
