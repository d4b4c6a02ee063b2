// Room: Primitives/Atomics. The only import of the standard library's Synchronization.
// In the models (Verification/Models) the checker's types have the same names, so the engine
// imports this module in one place and nothing else. Re-exported, not wrapped: it compiles to the
// same instructions. The engine uses `Atomic` and the orderings; Lock.swift says why not Mutex.
@_exported public import Synchronization
