// A block as compiled programs pass it: the address of a literal with the layout
//    0 class │ 8 flags │ 16 invoke, which takes the literal first │ 24 descriptor │ 32 captures
// <https://clang.llvm.org/docs/Block-ABI-Apple.html>
// A program's block is on its stack until it is copied; each copy is released once.
import CGrandCentralStorage

struct Block {
  let literal: UnsafeMutableRawPointer

  @inline(__always)
  init(_ literal: UnsafeMutableRawPointer) { self.literal = literal }

  /// Whether the compiler made functions that copy and release its captures. Otherwise these are
  /// bytes.
  var hasHelpers: Bool { literal.load(fromByteOffset: 8, as: UInt32.self) & 1 << 25 != 0 }

  typealias Invoke = @convention(c) (UnsafeMutableRawPointer) -> Void

  @inline(__always)
  func invoke<Function>(as type: Function.Type) -> Function {
    literal.load(fromByteOffset: 16, as: type)
  }

  /// Calls a block without parameters.
  @inline(__always)
  func call() { invoke(as: Invoke.self)(literal) }

  /// Returns one more reference, which the caller releases.
  @inline(__always)
  func copied() -> UnsafeMutableRawPointer {
    guard let copy = _Block_copy(literal) else { clientFault("There is no memory for a block.") }
    return copy
  }

  /// The block as a function with itself as the context: calls it once and releases it.
  static var callAndRelease: ClientFunction {
    { literal in
      let block = Block(literal.unsafelyUnwrapped)
      block.call()
      _Block_release(block.literal)
    }
  }

  /// The same, without the release.
  static var call: ClientFunction { { Block($0.unsafelyUnwrapped).call() } }
}

/// A copy of a block, for closures.
final class HeldBlock {
  let block: Block

  init(_ block: UnsafeMutableRawPointer) { self.block = Block(Block(block).copied()) }

  deinit { _Block_release(block.literal) }

  func call() { block.call() }
}
