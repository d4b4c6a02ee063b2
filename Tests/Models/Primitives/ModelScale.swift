// Room: Primitives/Scale, the models' side.

@inlinable @inline(__always)
public func scaled(_ real: Int, inModels: Int) -> Int { inModels }
