// Room: Reactor/DescriptorTable. The shared descriptors, by number.

final class DescriptorTable: @unchecked Sendable {
  let poller: Poller
  let lock = Lock()
  /// Guarded by the lock.
  @Cell var shared: [Int32: SharedDescriptor] = [:]
  private let losses = Atomic<Int>(0)
  /// The number of reports that are printed: a server makes this mistake for every connection.
  private static var maxReports: Int { 10 }

  init(poller: Poller) { self.poller = poller }

  /// Returns the shared state of the sources of `descriptor`. A source that may not join it calls
  /// `forget`, and asks again.
  func shared(_ descriptor: Int32) -> SharedDescriptor {
    lock.withLock {
      if let known = shared[descriptor] { return known }
      let made = SharedDescriptor(descriptor, in: self)
      shared[descriptor] = made
      return made
    }
  }

  /// Removes a shared descriptor that no source may join any more.
  func forget(_ gone: SharedDescriptor) {
    lock.withLock {
      if shared[gone.descriptor] === gone { shared[gone.descriptor] = nil }
    }
  }

  /// Reports that a descriptor was closed before its source was cancelled.
  func reportLoss(of listener: String) {
    guard ReportKind.descriptorClosedEarly.isPrinted else { return }
    let number = losses.wrappingAdd(1, ordering: .relaxed).newValue
    guard number <= Self.maxReports else { return }
    let rest = number < Self.maxReports ? "" : " Further ones are not reported."
    report(
      .descriptorClosedEarly,
      """
      BUG IN CLIENT OF GRAND CENTRAL: The descriptor of a \(listener) was closed before the source \
      was cancelled, or was never open. The source gets no more events. Call cancel() first, and \
      close the descriptor in the cancel handler.\(rest)
      """)
  }
}
