// fork(2): what the library does around it, it does by handlers that the C library calls. Programs that call these, as
// some do around a process of their own making, do no harm by doing so too: see Primitives/ForkGate.swift.

@c(dispatch_atfork_prepare)
public func dispatchAtForkPrepare() { ForkHandlers.prepare() }

@c(dispatch_atfork_parent)
public func dispatchAtForkParent() { ForkHandlers.resumeParent() }

@c(dispatch_atfork_child)
public func dispatchAtForkChild() { ForkHandlers.resumeChild() }
