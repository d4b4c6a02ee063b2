// Purpose: one line of the log. Its place in the log is its ticket: tickets order all events of a
// run.

public struct Event: Hashable, Sendable {
  public enum Kind: UInt8, CaseIterable, Sendable {
    /// The step's call into the engine is about to be made. For `after`, the value is the deadline.
    case called = 1
    /// It came back. The value is the engine's answer: 1 for a wait that was granted, a specific's
    /// value, the item's number from `sync`.
    case returned
    /// The item's closure began. For `after`, the value is the time.
    case started
    /// The item's closure is about to return.
    case ended
    /// The call that takes the step back is about to be made: resume, signal.
    case released
  }

  public let kind: Kind
  public let id: Int
  public let value: Int

  public init(_ kind: Kind, _ id: Int, value: Int = 0) {
    self.kind = kind
    self.id = id
    self.value = value
  }

  // MARK: As a word: 4 bits of kind, 16 of number, 44 of value

  var word: UInt64 {
    UInt64(kind.rawValue) << 60 | UInt64(UInt16(truncatingIfNeeded: id)) << 44
      | UInt64(bitPattern: Int64(value)) & 0xfff_ffff_ffff
  }

  /// `nil`: not written yet.
  init?(word: UInt64) {
    guard let kind = Kind(rawValue: UInt8(word >> 60)) else { return nil }
    self.kind = kind
    id = Int(word >> 44 & 0xffff)
    value = Int(Int64(bitPattern: word << 20) >> 20)
  }
}
