// Values that live as long as their process, kept where the leak checker finds them.
import GrandCentralPrimitives

@testable import GrandCentralCore

private final class KeptValues: @unchecked Sendable {
  static let shared = KeptValues()
  private let lock = Lock()
  private var kept: [Any] = []

  func keep(_ value: Any) { lock.withLock { kept.append(value) } }
}

/// Keeps a value until the process ends, and returns it.
func kept<Value>(_ value: Value) -> Value {
  KeptValues.shared.keep(value)
  return value
}

extension LocalQueue {
  /// A queue whose words no pool owns. They are never freed.
  init() {
    let words = UnsafeMutablePointer<Words>.allocate(capacity: 1)
    self.init(at: kept(words))
  }
}
