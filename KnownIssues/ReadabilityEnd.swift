// A readabilityHandler does not learn of the end of its pipe
//
// A program collects the output of a pipe by a handler, which receives no bytes at the end. With
// the library for Linux the last call often does not come, and the program waits for ever.
import Foundation

func body() {
  for round in 1...200 {
    let pipe = Pipe()
    let isAtEnd = DispatchSemaphore(value: 0)
    pipe.fileHandleForReading.readabilityHandler = { handle in
      if handle.availableData.isEmpty {
        handle.readabilityHandler = nil
        isAtEnd.signal()
      }
    }
    pipe.fileHandleForWriting.write(Data("some bytes".utf8))
    try? pipe.fileHandleForWriting.close()
    awaiting("the end of pipe \(round)")
    isAtEnd.wait()
  }
  decide(true, "all 200 handlers were called at the end")
}

promise("the handler of each of 200 pipes is called at the end", body)
