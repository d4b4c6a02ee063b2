// Room: Queues/DispatchWorkloop. A serial queue that runs the most urgent item first.
// The order is the lane's: see Lanes/Lane+BandOrder.

/// A queue that runs one item at a time, the most urgent first.
///
/// After each item the workloop compares the classes of what waits: the items that were submitted
/// to it, and the first items of the queues that target it. Items of one class run in the order of
/// submission, and each queue that targets the workloop keeps its own order. An item that has
/// started is not interrupted; while more urgent work waits, it is boosted. As long as urgent items
/// keep coming, less urgent ones wait.
///
/// The class that counts is the one at which the item runs, so items without a class of their own
/// run at that of the submitter. If something urgent waits for an item, the item moves up.
///
/// ```swift
/// let connection = DispatchWorkloop(label: "com.example.connection")
/// connection.async(qos: .background) { print("then the log") }
/// connection.async(qos: .userInteractive) { print("the answer first") }
/// ```
/// - Source: Apple, Dispatch, `DispatchWorkloop`; `dispatch/workloop.h`.
public final class DispatchWorkloop: DispatchQueue, @unchecked Sendable {
  /// Properties of a new workloop.
  public struct Attributes: OptionSet, Sendable {
    /// The attributes as bits.
    public let rawValue: UInt64
    /// Creates attributes from their bits.
    ///
    /// - Parameter rawValue: the bits; unknown bits have no effect.
    /// - Source: Swift standard library, `OptionSet`.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Nothing runs before `activate()`.
    public static let initiallyInactive = Attributes(rawValue: 1 << 2)
  }

  /// The ends of the bands on the private list. Only the lane's owner uses it.
  @Cell private var tails = BandTails()

  /// Creates a workloop.
  ///
  /// - Parameters:
  ///   - label: a name for debuggers and messages, by convention in reverse DNS.
  ///   - attributes: with `.initiallyInactive` nothing runs before `activate()`.
  ///   - autoreleaseFrequency: accepted and ignored; there are no autorelease pools on Linux.
  /// - Source: Apple, Dispatch, `DispatchWorkloop`.
  public convenience init(
    label: String, attributes: Attributes = [],
    autoreleaseFrequency: DispatchQueue.AutoreleaseFrequency = .inherit
  ) {
    self.init(
      workloop: label, isInactive: attributes.contains(.initiallyInactive), target: nil)
  }

  init(workloop label: String, isInactive: Bool, target: DispatchQueue?) {
    super.init(
      lane: label, isConcurrent: false, qos: .unspecified, isInactive: isInactive, target: target,
      ordersByBand: true)
  }

  override func insertByBand(_ oldest: WorkNode) {
    var node: WorkNode? = oldest
    while let first = node {
      node = first.next
      tails.insert(first, urgency(of: first), into: &batch)
    }
  }

  /// The innermost workloop that the calling thread is on, directly or through queues that target
  /// it; `nil` if there is none.
  package static var innermost: DispatchWorkloop? {
    var found: DispatchWorkloop?
    _ = Frames.search(currentThread()) {
      found = $0.takeUnretainedValue() as? DispatchWorkloop
      return found != nil
    }
    return found
  }
}
