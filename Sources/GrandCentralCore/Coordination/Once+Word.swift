// Room: Coordination/Once+Word. `Once` on a word in a C program's memory.

/// Calls `function` with `context` if this word, initially 0, has not been used; returns when the
/// call has ended.
package func runOnce(
  _ word: UnsafeMutableRawPointer, _ function: WorkFunction, _ context: UnsafeMutableRawPointer?
) {
  // SAFETY: an Atomic<UInt64> has the layout of a UInt64; C aligns the program's long suitably.
  let word = word.assumingMemoryBound(to: Atomic<UInt64>.self)
  Once.run(word.pointee) { function(context) }
}
