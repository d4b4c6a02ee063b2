// The main queue stops while a run loop starts and ends
//
// In a Foundation program the run loop drains the main queue, through a descriptor of the library.
// Work that arrives between two runs of the loop must not wait for a later event.
import Foundation

let isMain = DispatchGroup()

func body() {
  var rounds = 0
  for round in 1...100 {
    awaiting("the item of round \(round)")
    isMain.enter()
    var hasRun = false
    DispatchQueue.global().async {
      DispatchQueue.main.async {
        if !Thread.isMainThread { decide(false, "an item of the main queue ran on another thread") }
        isMain.leave()
      }
    }
    // On odd rounds the item arrives while no loop runs.
    if round % 2 == 1 { sleep_ms(2) }
    while !hasRun {
      _ = RunLoop.main.run(mode: .default, before: .distantFuture)
      hasRun = isMain.wait(timeout: .now()) == .success
    }
    rounds += 1
  }
  decide(rounds == 100, "the loop ran an item in each of \(rounds) rounds")
}

promise("a run loop runs what arrives in the main queue, also between two runs", body)
