// Room: Coordination/Once+Word. What happens once, on a word in a C program's memory.

/// Calls `function` with its context unless that has been done with this word, 0 at first; returns when it has.
package func runOnce(
  _ word: UnsafeMutableRawPointer, _ function: WorkFunction, _ context: UnsafeMutableRawPointer?
) {
  // SAFETY: an Atomic<UInt64> is a UInt64 in memory; C aligns the program's long as it must be.
  let word = word.assumingMemoryBound(to: Atomic<UInt64>.self)
  Once.run(word.pointee) { function(context) }
}
