import Glibc

/// Enables all reports, including those printed on request only. A child process calls it before it
/// uses the engine.
public func wantAllReports() { setenv("GRANDCENTRAL_REPORTS", "all", 1) }
