// Room: Primitives/Atomics, the models' side. Gives the checker's `Atomic`, `Cell` and orderings
// the engine's names.
@_exported public import ModelChecker
