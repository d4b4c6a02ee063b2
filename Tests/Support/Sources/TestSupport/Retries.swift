// Retries of runs whose outcome depends on time: a machine with much other load may hold up a
// program at the wrong moment.

/// Calls `run` up to ten times, until `isExpected` accepts its result. Returns the last result,
/// which the test still has to check.
public func retried(
  until isExpected: (ChildResult) -> Bool, _ run: () throws -> ChildResult
) rethrows -> ChildResult {
  var result = try run()
  for _ in 1..<10 where !isExpected(result) { result = try run() }
  return result
}

/// The same, until the program prints `line` first.
public func retried(
  untilFirst line: String, _ run: () throws -> ChildResult
) rethrows -> ChildResult {
  try retried(until: { $0.output.hasPrefix(line) }, run)
}
