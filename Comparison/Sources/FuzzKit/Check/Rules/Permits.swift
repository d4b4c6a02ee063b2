// Rule: at every moment, the waits that a semaphore has granted are not more than its initial
// permits and the signals so far.

extension Checker {
  func checkPermits() throws(Violation) {
    for semaphore in facts.program.semaphores.indices {
      let permits = facts.permits.filter { $0.object == semaphore }
      let handshakes = facts.handshakes.filter { $0.object == semaphore }
      // A wait counts from its grant on; a signal from just before its call.
      var moves: [(ticket: Int, step: Int, change: Int)] = []
      for permit in permits {
        let moments = history[permit.id]
        guard moments.returned > 0, moments.returnedValue == 1 else { continue }
        moves.append((moments.returned, permit.id, -1))
        if moments.released > 0 { moves.append((moments.released, permit.id, 1)) }
      }
      for handshake in handshakes {
        let moments = history[handshake.id]
        if moments.returned > 0 { moves.append((moments.returned, handshake.id, -1)) }
        if moments.released > 0 { moves.append((moments.released, handshake.id, 1)) }
      }
      moves.sort { $0.ticket < $1.ticket }
      try check(moves, of: semaphore)
    }
  }

  private func check(
    _ moves: [(ticket: Int, step: Int, change: Int)], of semaphore: Int
  ) throws(Violation) {
    let value = facts.program.semaphores[semaphore].value
    var left = value
    var holders: [Int] = []
    for move in moves {
      left += move.change
      if move.change < 0 {
        holders.append(move.step)
      } else {
        holders.removeAll { $0 == move.step }
      }
      if left < 0 {
        throw Violation(
          .permits,
          "semaphore \(semaphore) of value \(value) granted wait \(move.step) with no permit left",
          steps: holders)
      }
    }
  }
}
