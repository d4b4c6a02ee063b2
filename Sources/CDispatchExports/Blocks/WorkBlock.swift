// dispatch/block.h: a block that can be cancelled, waited for and observed. It is a work item in
// the form of a block: its only capture is the item, and its invoke pointer identifies it. One copy
// from the stack gives it the item's one reference. Later copies are counted, and the last release
// ends the item. A submission holds the block, so that its code may use it.
import CGrandCentralLinux
import CGrandCentralStorage

extension Block {
  /// The work item inside, if dispatch_block_create() made this block.
  @inline(__always)
  var item: Unmanaged<DispatchWorkItem>? {
    guard invoke(as: UInt.self) == WorkBlock.mark else { return nil }
    return Unmanaged.fromOpaque(literal.load(fromByteOffset: 32, as: UnsafeRawPointer.self))
  }
}

enum WorkBlock {
  private static let invoke: Block.Invoke = { literal in
    let item = literal.load(fromByteOffset: 32, as: UnsafeRawPointer.self)
    // SAFETY: the caller of a block holds it, and the block holds its item.
    Unmanaged<DispatchWorkItem>.fromOpaque(item)._withUnsafeGuaranteedRef { $0.perform() }
  }
  static var mark: UInt { unsafeBitCast(invoke, to: UInt.self) }

  /// reserved │ size │ copy(to, from) │ dispose(block): the functions that the blocks' runtime
  /// calls.
  // SAFETY: written once, and never freed.
  private nonisolated(unsafe) static let descriptor: UnsafeRawPointer = {
    // The reference moves from the literal on the stack to the copy: see make().
    let copy: @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void = {
      _, _ in
    }
    let dispose: @convention(c) (UnsafeMutableRawPointer) -> Void = { literal in
      let item = literal.load(fromByteOffset: 32, as: UnsafeRawPointer.self)
      Unmanaged<DispatchWorkItem>.fromOpaque(item).release()
    }
    let words = UnsafeMutablePointer<UInt>.allocate(capacity: 4)
    words[0] = 0
    words[1] = 48
    words[2] = unsafeBitCast(copy, to: UInt.self)
    words[3] = unsafeBitCast(dispose, to: UInt.self)
    return UnsafeRawPointer(words)
  }()

  /// BLOCK_HAS_COPY_DISPOSE.
  private static let hasHelpers: UInt64 = 1 << 25

  /// Creates a block around `item`, with the caller's reference to it. `inner` is the block that
  /// the item calls and retains.
  static func make(
    _ item: Unmanaged<DispatchWorkItem>, around inner: Block
  ) -> UnsafeMutableRawPointer {
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 6) { words in
      words[0] = UInt64(UInt(bitPattern: gc_stack_block_class()))
      words[1] = hasHelpers
      words[2] = UInt64(mark)
      words[3] = UInt64(UInt(bitPattern: descriptor))
      words[4] = UInt64(UInt(bitPattern: item.toOpaque()))
      words[5] = UInt64(UInt(bitPattern: inner.literal))
      let block = Block(UnsafeMutableRawPointer(words.baseAddress.unsafelyUnwrapped)).copied()
      item._withUnsafeGuaranteedRef {
        $0.join(
          block: block, retain: { _ = Block($0.unsafelyUnwrapped).copied() },
          release: { _Block_release($0.unsafelyUnwrapped) })
      }
      return block
    }
  }

  /// The block that the item calls. It lives as long as the block, and its address is the one with
  /// which the end of an execution is published to the race detector.
  static func inner(of block: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    block.load(fromByteOffset: 40, as: UnsafeMutableRawPointer.self)
  }

  /// Returns the item of a block, which must be a block object.
  static func item(
    of block: UnsafeMutableRawPointer, _ function: StaticString = #function
  ) -> Unmanaged<DispatchWorkItem> {
    guard let item = Block(block).item else {
      clientFault(
        "\(function) on a block that dispatch_block_create() has not made. Pass what that returned, not the block inside."
      )
    }
    return item
  }
}

// MARK: Creating

/// All defined flags.
private let knownFlags: UInt = 0x3f

private func workBlock(
  _ flags: UInt, _ qos: DispatchQoS, _ block: UnsafeMutableRawPointer
) -> UnsafeMutableRawPointer? {
  guard flags & ~knownFlags == 0 else { return nil }
  let inner = Block(Block(block).copied())
  let item = DispatchWorkItem(
    qos: qos, flags: DispatchWorkItemFlags(rawValue: flags),
    calling: { literal in
      let block = Block(literal.unsafelyUnwrapped)
      block.call()
      Races.release(block.literal)
    }, with: inner.literal, release: { _Block_release($0.unsafelyUnwrapped) })
  return WorkBlock.make(.passRetained(item), around: inner)
}

/// Creates a block object that runs `block`, with flags; NULL for unknown flags.
@c(dispatch_block_create)
public func dispatchBlockCreate(
  _ flags: UInt, _ block: UnsafeMutableRawPointer
) -> UnsafeMutableRawPointer? {
  workBlock(flags, .unspecified, block)
}

/// Does the same with a QoS class; NULL for an unknown class, or a relative priority outside 0 …
/// -15.
@c(dispatch_block_create_with_qos_class)
public func dispatchBlockCreateWithQoSClass(
  _ flags: UInt, _ qosClass: UInt32, _ relativePriority: Int32, _ block: UnsafeMutableRawPointer
) -> UnsafeMutableRawPointer? {
  guard let qos = DispatchQoS(c: qosClass, relativePriority) else { return nil }
  return workBlock(flags, qos, block)
}

// Vouchers are Mach's and do not exist here.

@c(dispatch_block_create_with_voucher)
public func dispatchBlockCreateWithVoucher(
  _ flags: UInt, _ voucher: UnsafeMutableRawPointer?, _ block: UnsafeMutableRawPointer
) -> UnsafeMutableRawPointer? {
  workBlock(flags, .unspecified, block)
}

@c(dispatch_block_create_with_voucher_and_qos_class)
public func dispatchBlockCreateWithVoucherAndQoSClass(
  _ flags: UInt, _ voucher: UnsafeMutableRawPointer?, _ qosClass: UInt32,
  _ relativePriority: Int32, _ block: UnsafeMutableRawPointer
) -> UnsafeMutableRawPointer? {
  dispatchBlockCreateWithQoSClass(flags, qosClass, relativePriority, block)
}

@c(_dispatch_block_create)
public func dispatchBlockCreateInternally(
  _ flags: UInt, _ voucher: UnsafeMutableRawPointer?, _ priority: UInt,
  _ block: UnsafeMutableRawPointer
) -> UnsafeMutableRawPointer? {
  workBlock(flags, .unspecified, block)
}

// MARK: Using

/// Runs a block on the calling thread, as a block object with these flags.
@c(dispatch_block_perform)
public func dispatchBlockPerform(_ flags: UInt, _ block: UnsafeMutableRawPointer) {
  let flags = DispatchWorkItemFlags(rawValue: flags & knownFlags)
  // The item ends before this returns, so the block need not be copied.
  DispatchWorkItem(flags: flags) { Block(block).call() }.perform()
}

/// Makes executions that begin later end at once. Any thread.
@c(dispatch_block_cancel)
public func dispatchBlockCancel(_ block: UnsafeMutableRawPointer) {
  WorkBlock.item(of: block)._withUnsafeGuaranteedRef { $0.cancel() }
}

/// Returns 1 if dispatch_block_cancel() was called, otherwise 0.
@c(dispatch_block_testcancel)
public func dispatchBlockTestCancel(_ block: UnsafeMutableRawPointer) -> Int {
  WorkBlock.item(of: block)._withUnsafeGuaranteedRef { $0.isCancelled } ? 1 : 0
}

/// Waits for the first execution. Returns 0, or nonzero after the timeout.
@c(dispatch_block_wait)
public func dispatchBlockWait(_ block: UnsafeMutableRawPointer, _ timeout: UInt64) -> Int {
  let result = WorkBlock.item(of: block)._withUnsafeGuaranteedRef { $0.wait(word: timeout) }.word
  if result == 0 { Races.acquire(WorkBlock.inner(of: block)) }
  return result
}

/// Submits `notification` after the first execution has ended.
@c(dispatch_block_notify)
public func dispatchBlockNotify(
  _ block: UnsafeMutableRawPointer, _ target: Handle?, _ notification: UnsafeMutableRawPointer
) {
  let handle = target
  let target = queue(target).takeUnretainedValue()
  WorkBlock.item(of: block)._withUnsafeGuaranteedRef {
    if let item = Block(notification).item, !gc_is_watched_for_races() {
      return $0.notify(queue: target, execute: item.takeUnretainedValue())
    }
    let held = HeldBlock(notification)
    guard gc_is_watched_for_races() else { return $0.notify(queue: target) { held.call() } }
    let observed = HeldBlock(block)
    // Publishes the notifier's writes. The notification acquires them, and the execution's.
    Races.release(held.block.literal)
    $0.notify(queue: target) {
      Races.acquire(held.block.literal)
      Races.acquire(WorkBlock.inner(of: observed.block.literal))
      Races.inOrder(of: handle) { held.call() }
    }
  }
}
