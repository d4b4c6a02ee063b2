// Room: Primitives/Scale. Sizes that are smaller in models than in the engine.
// A queue of 256 slots, or 40 looks before a sleep, are steps that a model checker takes one by
// one. The protocols are the same at four slots and at no look.

/// Returns `real`; in code compiled for the model checker, `inModels`.
@inlinable @inline(__always)
public func scaled(_ real: Int, inModels: Int) -> Int { real }
