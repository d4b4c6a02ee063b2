import GrandCentralCore

/// Ends the process with a report that exceeds a pipe's buffer, so it takes several writes.
func longReport(_ words: [String]) {
  clientFault(String(repeating: "x", count: 300_000) + ".")
}
