// dispatch/block.h: a block that can be cancelled, waited for and observed. It is a work item in a block's clothes: a
// block whose only capture is the item, and whose invoke pointer tells it from all others. It is copied from the stack once,
// which gives it the item's one reference; from then on copies are counted, and the last one ends the item.
import CDispatchStorage
import CLinux

extension Block {
  /// The work item inside, if this is a block of dispatch_block_create().
  @inline(__always)
  var item: Unmanaged<DispatchWorkItem>? {
    guard invoke(as: UInt.self) == WorkBlock.mark else { return nil }
    return Unmanaged.fromOpaque(literal.load(fromByteOffset: 32, as: UnsafeRawPointer.self))
  }
}

enum WorkBlock {
  private static let invoke: Block.Invoke = { literal in
    let item = literal.load(fromByteOffset: 32, as: UnsafeRawPointer.self)
    // SAFETY: whoever calls a block holds it, and the block its item.
    Unmanaged<DispatchWorkItem>.fromOpaque(item)._withUnsafeGuaranteedRef { $0.perform() }
  }
  static var mark: UInt { unsafeBitCast(invoke, to: UInt.self) }

  /// reserved │ size │ copy(to, from) │ dispose(block): what the blocks' runtime calls.
  // SAFETY: written once, and never freed.
  private nonisolated(unsafe) static let descriptor: UnsafeRawPointer = {
    // The literal on the stack was the owner: see make().
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

  /// A new block around `item`. `inner`: the block that the item calls, and keeps.
  static func make(_ item: DispatchWorkItem, around inner: Block) -> UnsafeMutableRawPointer {
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 6) { words in
      words[0] = UInt64(UInt(bitPattern: gc_stack_block_class()))
      words[1] = hasHelpers
      words[2] = UInt64(mark)
      words[3] = UInt64(UInt(bitPattern: descriptor))
      words[4] = UInt64(UInt(bitPattern: Unmanaged.passRetained(item).toOpaque()))
      words[5] = UInt64(UInt(bitPattern: inner.literal))
      return Block(UnsafeMutableRawPointer(words.baseAddress.unsafelyUnwrapped)).copied()
    }
  }

  /// What the item of a block calls, which is alive as long as the block: by its address the end of an execution is told.
  static func inner(of block: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    block.load(fromByteOffset: 40, as: UnsafeMutableRawPointer.self)
  }

  /// The item of a block that must be one of these.
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

// MARK: Making

/// All flags that there are.
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
  return WorkBlock.make(item, around: inner)
}

/// A new block that runs `block`, with flags; NULL for unknown flags.
@c(dispatch_block_create)
public func dispatchBlockCreate(
  _ flags: UInt, _ block: UnsafeMutableRawPointer
) -> UnsafeMutableRawPointer? {
  workBlock(flags, .unspecified, block)
}

/// The same, with a QoS class; NULL for an unknown one, or a relative priority outside 0 … -15.
@c(dispatch_block_create_with_qos_class)
public func dispatchBlockCreateWithQoSClass(
  _ flags: UInt, _ qosClass: UInt32, _ relativePriority: Int32, _ block: UnsafeMutableRawPointer
) -> UnsafeMutableRawPointer? {
  guard let qos = DispatchQoS(c: qosClass, relativePriority) else { return nil }
  return workBlock(flags, qos, block)
}

// Vouchers are Mach's; there are none here.

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

/// Runs a block here and now, with flags, as if it had been made with them.
@c(dispatch_block_perform)
public func dispatchBlockPerform(_ flags: UInt, _ block: UnsafeMutableRawPointer) {
  let flags = DispatchWorkItemFlags(rawValue: flags & knownFlags)
  // The item dies before this returns, so the block need not be copied.
  DispatchWorkItem(flags: flags) { Block(block).call() }.perform()
}

/// Executions of the block that begin from now on end at once. Any thread.
@c(dispatch_block_cancel)
public func dispatchBlockCancel(_ block: UnsafeMutableRawPointer) {
  WorkBlock.item(of: block)._withUnsafeGuaranteedRef { $0.cancel() }
}

/// 1 if dispatch_block_cancel() was called, else 0.
@c(dispatch_block_testcancel)
public func dispatchBlockTestCancel(_ block: UnsafeMutableRawPointer) -> Int {
  WorkBlock.item(of: block)._withUnsafeGuaranteedRef { $0.isCancelled } ? 1 : 0
}

/// Waits for the first execution; 0, or another number if the time came first.
@c(dispatch_block_wait)
public func dispatchBlockWait(_ block: UnsafeMutableRawPointer, _ timeout: UInt64) -> Int {
  let result = WorkBlock.item(of: block)._withUnsafeGuaranteedRef { $0.wait(word: timeout) }.word
  if result == 0 { Races.acquire(WorkBlock.inner(of: block)) }
  return result
}

/// Submits `notification` when the first execution is over.
@c(dispatch_block_notify)
public func dispatchBlockNotify(
  _ block: UnsafeMutableRawPointer, _ target: Handle?, _ notification: UnsafeMutableRawPointer
) {
  let target = queue(target).takeUnretainedValue()
  WorkBlock.item(of: block)._withUnsafeGuaranteedRef {
    if let item = Block(notification).item, !gc_is_watched_for_races() {
      return $0.notify(queue: target, execute: item.takeUnretainedValue())
    }
    let held = HeldBlock(notification)
    guard gc_is_watched_for_races() else { return $0.notify(queue: target) { held.call() } }
    let observed = HeldBlock(block)
    // What the notifier has done, and what the execution did.
    Races.release(held.block.literal)
    $0.notify(queue: target) {
      Races.acquire(held.block.literal)
      Races.acquire(WorkBlock.inner(of: observed.block.literal))
      held.call()
    }
  }
}
