// Rule: at every moment, a semaphore has granted no more waits than it had permits and has had
// signals.

extension Checker {
  func checkPermits() throws(Violation) {
    for semaphore in facts.program.semaphores.indices {
      let permits = facts.permits.filter { $0.object == semaphore }
      let handshakes = facts.handshakes.filter { $0.object == semaphore }
      // A permit that is granted counts from then on; a signal from when it is about to be made.
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
