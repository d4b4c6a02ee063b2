// Removing a readabilityHandler while data arrives crashes
//
// A program sets a handler of a pipe's end, and removes it from another thread as soon as it has
// what it wanted, while the handler removes itself. Foundation cancels a source of the library
// meanwhile, and closes the descriptor, whose number is used again at once.
import Foundation

let threads = DispatchGroup()

func teardown(_ round: Int) {
  let pipe = Pipe()
  let reader = pipe.fileHandleForReading
  let writer = pipe.fileHandleForWriting
  let isSeen = DispatchSemaphore(value: 0)
  reader.readabilityHandler = { handle in
    if !handle.availableData.isEmpty { isSeen.signal() }
    if round % 2 == 0 { handle.readabilityHandler = nil }
  }
  let isWritten = DispatchGroup()
  DispatchQueue.global().async(group: isWritten) {
    for _ in 0..<20 { writer.write(Data("some bytes".utf8)) }
  }
  isSeen.wait()
  // On every third pipe the handler is removed by closing the handle alone.
  if round % 3 != 0 { reader.readabilityHandler = nil }
  isWritten.wait()
  try? writer.close()
  try? reader.close()
}

func body() {
  for _ in 0..<4 {
    threads.enter()
    Thread.detachNewThread {
      for round in 1...100 {
        awaiting("data of pipe \(round)")
        teardown(round)
      }
      threads.leave()
    }
  }
  threads.wait()
  decide(true, "400 handlers were removed on four threads while data arrived")
}

promise("a handle's readability handler can be removed while data arrives", body)
