// Room: Primitives/Atomics. The only door to the standard library's Synchronization.
// In the models (Tests/Models) the checker's own types stand behind the same names, so the engine imports this
// module, in one place, and nothing else. Re-exported, not wrapped: it compiles to the same instructions.
// Of what comes with it the engine uses `Atomic` and the orderings; see Lock.swift on Mutex.
@_exported public import Synchronization
