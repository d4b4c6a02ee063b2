// Room: Queues/WorkNode+Make. The nodes that carry client work.
// Each kind has an entry, which runs when its turn comes; discard() empties a node that never runs.
//   entry             closure   context   companion
//   closureEntry      work      –         –            Work/WorkNode.swift
//   memberEntry       work      –         group        runs work, then leaves the group
//   itemEntry         urgency   item      –            performs the item
//   memberItemEntry   urgency   item      group        performs the item, then leaves the group
//   functionEntry     function  –         –            Work/WorkNode.swift
//   memberFunctionEntry  function  –      group        calls the function, then leaves the group
//   disposalEntry     work      –         –            releases the closure
//   itemDisposalEntry –         item      –            releases the item
// The node retains context and companion. A member enters its group when the node is made.
import CGrandCentralLinux

extension WorkNode {
  /// Creates a node that runs `work` once, submitted by `thread`.
  static func closure(
    _ work: consuming @escaping () -> Void, group: DispatchGroup? = nil, qos: DispatchQoS,
    flags: DispatchWorkItemFlags, on thread: ThreadContext
  ) -> WorkNode {
    let captured = QoSPropagation.captured(
      from: PackedQoS(rawValue: thread.pointee.qos), explicit: PackedQoS(qos), flags: flags)
    let node = NodeCache.take(thread)
    node.putClosure(work)
    node.entry = closureEntry
    node.traits = WorkTraits(qos: captured, barrier: flags.contains(.barrier))
    if let group { node.join(group) }
    return node
  }

  /// Creates a node that performs `item` on `queue`, submitted by `thread`.
  static func item(
    _ item: DispatchWorkItem, group: DispatchGroup? = nil, queue: DispatchQueue,
    on thread: ThreadContext
  ) -> WorkNode {
    item.recordSubmission(to: queue)
    let node = NodeCache.take(thread)
    node.context = item.retainSubmitted().toOpaque()
    node.entry = itemEntry
    node.traits = item.traits(from: thread).union(.awaited)
    node.urgencyReader = { context in
      // SAFETY: the node's reference.
      Unmanaged<DispatchWorkItem>.fromOpaque(context)._withUnsafeGuaranteedRef {
        UInt8($0.awaited.load(ordering: .relaxed))
      }
    }
    if let group {
      node.enter(group)
      node.entry = memberItemEntry
    }
    return node
  }

  /// Makes a node with a closure a member of `group`.
  func join(_ group: DispatchGroup) {
    entry = Self.memberEntry
    enter(group)
  }

  /// Makes a node with a function a member of `group`.
  func joinWithFunction(_ group: DispatchGroup) {
    entry = Self.memberFunctionEntry
    enter(group)
  }

  private func enter(_ group: DispatchGroup) {
    group.enter()
    companion = Unmanaged.passRetained(group).toOpaque()
  }

  /// Creates a node that only releases `work`, on the queue where the client expects its end.
  static func disposalNode(_ work: consuming @escaping () -> Void, on thread: ThreadContext)
    -> WorkNode
  {
    let node = NodeCache.take(thread)
    node.putClosure(work)
    node.entry = disposalEntry
    node.traits = WorkTraits(qos: .unspecified)
    return node
  }

  static func disposalNode(_ item: DispatchWorkItem, on thread: ThreadContext) -> WorkNode {
    let node = NodeCache.take(thread)
    node.context = item.retainSubmitted().toOpaque()
    node.entry = itemDisposalEntry
    node.traits = WorkTraits(qos: .unspecified)
    return node
  }

  // MARK: Entries

  private static let disposalEntry: Entry = { raw, thread in
    WorkNode(raw).discard(carriesItem: false, on: thread)
  }

  private static let itemDisposalEntry: Entry = { raw, thread in
    WorkNode(raw).discard(carriesItem: true, on: thread)
  }

  private static let memberEntry: Entry = { raw, thread in
    let node = WorkNode(raw)
    let group = node.takeGroup()
    grandCentralClientCallout(of: node, on: thread)
    leave(group)
  }

  private static let memberFunctionEntry: Entry = { raw, thread in
    let node = WorkNode(raw)
    let group = node.takeGroup()
    grandCentralFunctionCallout(of: node, on: thread)
    leave(group)
  }

  private static let itemEntry: Entry = { raw, thread in
    let node = WorkNode(raw)
    let item = node.takeItem()
    NodeCache.put(node, thread)
    // SAFETY: this function now owns the node's reference.
    item._withUnsafeGuaranteedRef { $0.performSubmitted(on: thread) }
    DispatchWorkItem.releaseSubmitted(item)
  }

  private static let memberItemEntry: Entry = { raw, thread in
    let node = WorkNode(raw)
    let group = node.takeGroup()
    let item = node.takeItem()
    NodeCache.put(node, thread)
    // SAFETY: as above.
    item._withUnsafeGuaranteedRef { $0.performSubmitted(on: thread) }
    DispatchWorkItem.releaseSubmitted(item)
    leave(group)
  }

  private static func leave(_ group: Unmanaged<DispatchGroup>) {
    // SAFETY: the node's reference keeps the group alive until it is released below.
    group._withUnsafeGuaranteedRef { $0.leave() }
    group.release()
  }

  /// Releases what a node without a group holds, and returns the node to the cache.
  func discard(carriesItem: Bool, on thread: ThreadContext) {
    if carriesItem {
      DispatchWorkItem.releaseSubmitted(takeItem())
    } else {
      _ = takeClosure()
    }
    NodeCache.put(self, thread)
  }

  // MARK: Recordings

  /// The code that the node calls, for a recording.
  var clientCode: ClientCode {
    let own = unsafeBitCast(entry, to: UInt.self)
    // No list of entries: it would be allocated.
    func isOwn(_ entry: Entry) -> Bool { unsafeBitCast(entry, to: UInt.self) == own }
    if isOwn(Self.closureEntry) || isOwn(Self.functionEntry) || isOwn(Self.memberEntry)
      || isOwn(Self.memberFunctionEntry)
    {
      let code = load(16, as: UInt.self)
      return Self.code(behind: code, load(24, as: UnsafeMutableRawPointer?.self))
    }
    guard isOwn(Self.itemEntry) || isOwn(Self.memberItemEntry), let context else {
      return ClientCode()
    }
    // SAFETY: the node's reference.
    return Unmanaged<DispatchWorkItem>.fromOpaque(context)
      ._withUnsafeGuaranteedRef { $0.clientCode }
  }

  /// The code of a block that `function` calls; otherwise `function`.
  static func code(behind function: UInt, _ context: UnsafeMutableRawPointer?) -> ClientCode {
    guard function == BlackBox.blockCaller, let block = context else {
      return ClientCode(address: function)
    }
    return code(ofBlock: block)
  }

  /// The code of a block, by its literal: see Block-ABI-Apple.
  static func code(ofBlock block: UnsafeMutableRawPointer) -> ClientCode {
    var code = ClientCode(address: block.load(fromByteOffset: 16, as: UInt.self))
    // A closure of Swift as a block: its code and its context are all that the block has captured.
    let hasCopy = block.load(fromByteOffset: 8, as: UInt32.self) & 1 << 25 != 0
    let descriptor = block.load(fromByteOffset: 24, as: UnsafeRawPointer.self)
    if hasCopy, descriptor.load(fromByteOffset: 8, as: UInt.self) == 48 {
      let captured = block.load(fromByteOffset: 32, as: UInt.self)
      // The thunk and the closure are of one file. What a block of C captures is rarely of the file
      // of its code: an object, most often.
      if gc_are_of_one_image(code.address, captured) { code.captured = captured }
    }
    return code
  }

  private func takeItem() -> Unmanaged<DispatchWorkItem> {
    // SAFETY of force: every node of these kinds has an item.
    Unmanaged.fromOpaque(context.unsafelyUnwrapped)
  }

  private func takeGroup() -> Unmanaged<DispatchGroup> {
    // SAFETY of force: every member has a group.
    Unmanaged.fromOpaque(companion.unsafelyUnwrapped)
  }
}
