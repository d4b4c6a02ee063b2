// Room: Primitives/Scale. Sizes that a model needs smaller than a machine does.
// A ring of 256 slots, or forty looks before a sleep, are steps that a model checker would have to take one
// by one; the protocols are the same at four and at none.

/// `real`, but `inModels` where the engine is compiled for the model checker.
@inlinable @inline(__always)
public func scaled(_ real: Int, inModels: Int) -> Int { real }
