// Room: Primitives/Atomics, the simulation's side. Gives the simulator's `Atomic` and orderings the
// engine's names.
@_exported public import CoreSimulator
