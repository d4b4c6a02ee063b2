// Room: Primitives/Atomics, the models' side: the checker's Atomic, Cell and orderings under the
// engine's names.
@_exported public import ModelChecker
