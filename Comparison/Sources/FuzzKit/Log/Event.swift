// Purpose: one event of the log. Its index in the log is its ticket; tickets order all events of a
// run.

public struct Event: Hashable, Sendable {
  public enum Kind: UInt8, CaseIterable, Sendable {
    /// Just before the step's call into the engine. For `after`, the value is the deadline.
    case called = 1
    /// The call returned. The value is the engine's result: 1 for a successful wait, a specific's
    /// value, the item's number from `sync`.
    case returned
    /// The item's closure began. For `after`, the value is the time.
    case started
    /// Just before the item's closure returns.
    case ended
    /// Just before the call that undoes the step: resume, signal.
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

  /// Decodes an event; `nil` if the word has not been written.
  init?(word: UInt64) {
    guard let kind = Kind(rawValue: UInt8(word >> 60)) else { return nil }
    self.kind = kind
    id = Int(word >> 44 & 0xffff)
    value = Int(Int64(bitPattern: word << 20) >> 20)
  }
}
