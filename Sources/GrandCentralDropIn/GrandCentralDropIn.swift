// What an executable depends on so that its whole process runs on this engine: Foundation,
// Concurrency and all other libraries that use libdispatch.so. The executable defines libdispatch's
// symbols, and the loader takes the first definition that it finds (ELF interposition), which is
// the executable's. That it defines all of them, and not only those that its own code names, is
// what linking the toolchain's library is for.
import GrandCentralExports

/// Whether the process's libdispatch is this engine: the executable's symbols were found before the
/// toolchain's.
///
/// Call from any thread.
public var isDispatchInterposed: Bool { GrandCentralExports.isInCharge }
