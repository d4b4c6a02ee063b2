import Glibc

/// For a child process, before it uses the engine: it prints also the reports that are printed on
/// request only.
public func wantAllReports() { setenv("GRANDCENTRAL_REPORTS", "all", 1) }
