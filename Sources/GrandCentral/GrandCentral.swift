// Purpose: the module that users import.
// It re-exports every public name of the engine, one by one. A scoped re-export of a name takes
// precedence over the same name of Dispatch that Foundation re-exports, so programs that import
// both get ours without ambiguity. A re-export of the whole module would make every use of a name
// ambiguous.

@_exported import class GrandCentralCore.DispatchConcurrentQueue
@_exported import struct GrandCentralCore.DispatchData
@_exported import struct GrandCentralCore.DispatchDataIterator
@_exported import class GrandCentralCore.DispatchGroup
@_exported import class GrandCentralCore.DispatchIO
@_exported import class GrandCentralCore.DispatchObject
@_exported import enum GrandCentralCore.DispatchPredicate
@_exported import struct GrandCentralCore.DispatchQoS
@_exported import class GrandCentralCore.DispatchQueue
@_exported import class GrandCentralCore.DispatchSemaphore
@_exported import class GrandCentralCore.DispatchSerialQueue
@_exported import class GrandCentralCore.DispatchSource
@_exported import protocol GrandCentralCore.DispatchSourceFileSystemObject
@_exported import typealias GrandCentralCore.DispatchSourceHandler
@_exported import protocol GrandCentralCore.DispatchSourceMemoryPressure
@_exported import protocol GrandCentralCore.DispatchSourceProcess
@_exported import protocol GrandCentralCore.DispatchSourceProtocol
@_exported import protocol GrandCentralCore.DispatchSourceRead
@_exported import protocol GrandCentralCore.DispatchSourceSignal
@_exported import protocol GrandCentralCore.DispatchSourceTimer
@_exported import protocol GrandCentralCore.DispatchSourceUserDataAdd
@_exported import protocol GrandCentralCore.DispatchSourceUserDataOr
@_exported import protocol GrandCentralCore.DispatchSourceUserDataReplace
@_exported import protocol GrandCentralCore.DispatchSourceWrite
@_exported import class GrandCentralCore.DispatchSpecificKey
@_exported import struct GrandCentralCore.DispatchTime
@_exported import enum GrandCentralCore.DispatchTimeInterval
@_exported import enum GrandCentralCore.DispatchTimeoutResult
@_exported import struct GrandCentralCore.DispatchWallTime
@_exported import class GrandCentralCore.DispatchWorkItem
@_exported import struct GrandCentralCore.DispatchWorkItemFlags
@_exported import class GrandCentralCore.DispatchWorkloop
@_exported import func GrandCentralCore.dispatchMain
@_exported import func GrandCentralCore.dispatchPrecondition
@_exported import typealias GrandCentralCore.dispatch_fd_t
@_exported import typealias GrandCentralCore.dispatch_time_t
