// fork(2): handlers that the C library calls around it. Some programs call them around a process
// creation of their own. Extra calls do no harm: see Primitives/ForkGate.swift.

@c(dispatch_atfork_prepare)
public func dispatchAtForkPrepare() { ForkHandlers.prepare() }

@c(dispatch_atfork_parent)
public func dispatchAtForkParent() { ForkHandlers.resumeParent() }

@c(dispatch_atfork_child)
public func dispatchAtForkChild() { ForkHandlers.resumeChild() }
