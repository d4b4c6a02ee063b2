// Counts a row's instructions.
import CCallgrind
import Glibc

/// Numbers of operations, and how often each is counted: Instructions.c says why.
private let few = 2000
private let many = 2 * few
private let samples = 5

private func count(_ row: Row, _ operations: Int, _ which: String) -> Bool {
  row.run(operations)
  return callgrind_dump("\(row.name)|\(which),\(operations)")
}

/// Runs a row in a process of its own, so that no row warms up the engine for another.
func measure(_ row: Row) -> Bool {
  let child = callgrind_fork()
  if child == 0 {
    var isCounted = count(row, few, "first")
    for _ in 0..<samples { isCounted = count(row, few, "few") && isCounted }
    for _ in 0..<samples { isCounted = count(row, many, "many") && isCounted }
    _exit(isCounted ? 0 : 69)
  }
  var status: Int32 = -1
  return waitpid(child, &status, 0) == child && status == 0
}
