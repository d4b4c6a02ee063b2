// Uses the headers' module from Swift. Closures that run on other threads are @Sendable, so that
// they do not inherit this file's isolation.
import CGrandCentralDispatch

let queue = dispatch_queue_create("import", nil)
nonisolated(unsafe) var ran = 0
dispatch_sync(queue) { ran += 1 }
dispatch_async(queue) { ran += 1 }
dispatch_async_f(queue, nil) { _ in ran += 1 }
dispatch_sync_f(queue, nil) { _ in ran += 1 }
let group = dispatch_group_create()
dispatch_group_async(group, dispatch_get_global_queue(Int(DISPATCH_QUEUE_PRIORITY_DEFAULT), 0)) {}
precondition(dispatch_group_wait(group, DISPATCH_TIME_FOREVER) == 0)
precondition(ran == 4)
precondition(String(cString: dispatch_queue_get_label(queue)) == "import")
precondition(dispatch_time(DISPATCH_TIME_NOW, Int64(NSEC_PER_SEC)) > 0)
precondition(DISPATCH_WALLTIME_NOW == UInt64.max - 1)
