// Purpose: a random program as a value: its queues, groups and semaphores, and the steps of the
// drivers, which are plain threads outside all queues.
//
// Operations that must be balanced are one step with a body (suspend … resume, wait … signal), so
// that a program stays balanced when the shrinker removes pieces. Legality.swift states the other
// rules.

public struct Program: Hashable, Sendable {
  /// At most 64, so that a set of queues is a word. A queue's target has a higher number.
  public var queues: [QueueSpec]
  public var groups: [GroupSpec]
  public var semaphores: [SemaphoreSpec]
  /// The steps of each driver, in order. Drivers run at the same time.
  public var drivers: [[Op]]

  public init(
    queues: [QueueSpec], groups: [GroupSpec] = [], semaphores: [SemaphoreSpec] = [],
    drivers: [[Op]]
  ) {
    self.queues = queues
    self.groups = groups
    self.semaphores = semaphores
    self.drivers = drivers
  }
}

public struct QueueSpec: Hashable, Sendable {
  public enum Kind: Int, CaseIterable, Sendable { case serial, concurrent, global, main }

  public var kind: Kind
  /// The queue's level. A thread that holds queues of one level waits only for higher levels.
  public var level: Int
  /// A queue of the same level with a higher number; nil: the default target.
  public var target: Int?
  public var isInactive: Bool
  /// An index into `QoSName.all`.
  public var qos: Int
  /// Bit k: the queue has a value for key k; the value is the queue's number.
  public var specifics: Int

  public init(
    _ kind: Kind, level: Int = 0, target: Int? = nil, isInactive: Bool = false, qos: Int = 0,
    specifics: Int = 0
  ) {
    self.kind = kind
    self.level = level
    self.target = target
    self.isInactive = isInactive
    self.qos = qos
    self.specifics = specifics
  }

  /// Whether the program creates the queue, so that it can suspend and retarget it.
  public var isPrivate: Bool { kind == .serial || kind == .concurrent }
  /// Whether the queue runs one item at a time, whatever the items' flags.
  public var isSerial: Bool { kind == .serial || kind == .main }
}

public struct GroupSpec: Hashable, Sendable {
  /// The group's level. Members run on queues of this level or a higher one.
  public var level: Int
  public init(level: Int = 0) { self.level = level }
}

public struct SemaphoreSpec: Hashable, Sendable {
  public var value: Int
  /// The semaphore's level, like a lock's: a thread with a permit waits only for higher levels.
  public var level: Int
  public init(value: Int, level: Int = 0) {
    self.value = value
    self.level = level
  }
}

public enum QoSName {
  public static let all = [
    "unspecified", "background", "utility", "default", "userInitiated", "userInteractive",
  ]
  /// The raw values of the same classes as a `TaskPriority`.
  public static let taskPriorities: [UInt8] = [0, 0x09, 0x11, 0x15, 0x19, 0x21]
}

public let specificKeyCount = 2
