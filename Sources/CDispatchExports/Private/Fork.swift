// fork(2): what the library does around it, it does by handlers that the C library calls. Programs that call these, as
// some do around a process of their own making, find that nothing is left to do.

@c(dispatch_atfork_prepare)
public func dispatchAtForkPrepare() {}

@c(dispatch_atfork_parent)
public func dispatchAtForkParent() {}

@c(dispatch_atfork_child)
public func dispatchAtForkChild() {}
