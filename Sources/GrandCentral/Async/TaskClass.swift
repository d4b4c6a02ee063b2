// Purpose: the QoS of work that is submitted on behalf of a task.
import GrandCentralCore

extension DispatchQoS {
  /// The class that corresponds to the priority of the current task.
  static var ofCurrentTask: DispatchQoS { DispatchQoS(Task<Never, Never>.currentPriority) }

  /// The class of a task's priority. Priorities between two named ones belong to the lower one.
  init(_ priority: TaskPriority) {
    switch priority.rawValue {
    case ..<TaskPriority.utility.rawValue: self = .background
    case ..<TaskPriority.medium.rawValue: self = .utility
    case ..<TaskPriority.userInitiated.rawValue: self = .default
    case ...TaskPriority.userInitiated.rawValue: self = .userInitiated
    default: self = .userInteractive
    }
  }
}

extension DispatchQueue {
  /// The global queue of the class of the current task.
  static var ofCurrentTask: DispatchQueue {
    .global(qos: DispatchQoS.ofCurrentTask.qosClass)
  }
}
