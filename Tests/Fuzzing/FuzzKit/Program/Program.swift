// Purpose: a random program as a value: which queues, groups and semaphores there are, and what the
// drivers, plain threads outside all queues, do with them.
//
// Whatever must be balanced is one operation with a body (suspend … resume, wait … signal), so that
// a program stays balanced when the shrinker takes pieces out. What else makes a program legal is
// in Legality.swift.

public struct Program: Hashable, Sendable {
  /// At most 64, so that a set of queues is a word. A queue's target stands after it.
  public var queues: [QueueSpec]
  public var groups: [GroupSpec]
  public var semaphores: [SemaphoreSpec]
  /// What each driver does, in order. Drivers run at the same time.
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
  /// Threads that hold queues of one level wait only for what is of a higher one.
  public var level: Int
  /// A later queue of the same level; nil: the default target.
  public var target: Int?
  public var isInactive: Bool
  /// An index into `QoSName.all`.
  public var qos: Int
  /// Bit k: the queue has a value for key k, which is its own number.
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

  /// Made by the program, so that it can be suspended and retargeted.
  public var isPrivate: Bool { kind == .serial || kind == .concurrent }
  /// Runs one item at a time, whatever its flags.
  public var isSerial: Bool { kind == .serial || kind == .main }
}

public struct GroupSpec: Hashable, Sendable {
  /// Members run on queues of this level or a higher one.
  public var level: Int
  public init(level: Int = 0) { self.level = level }
}

public struct SemaphoreSpec: Hashable, Sendable {
  public var value: Int
  /// As a lock's: who holds a permit waits only for what is of a higher level.
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
}

public let specificKeyCount = 2
