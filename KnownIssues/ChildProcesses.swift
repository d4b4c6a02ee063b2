// Foundation does not notice that a child process has ended
//
// A program runs many children at once and reads their output. The end of each child and of its
// output comes through the library's sources and the run loop; a lost one hangs the program.
import Foundation

let isDone = DispatchGroup()

func body() {
  for number in 0..<20 {
    isDone.enter()
    Thread.detachNewThread {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/bin/echo")
      process.arguments = ["child \(number)"]
      let output = Pipe()
      process.standardOutput = output
      let hasEnded = DispatchSemaphore(value: 0)
      process.terminationHandler = { _ in hasEnded.signal() }
      do { try process.run() } catch { decide(false, "echo(1) cannot be started: \(error)") }
      let text = output.fileHandleForReading.readDataToEndOfFile()
      hasEnded.wait()
      if String(decoding: text, as: UTF8.self) != "child \(number)\n" {
        decide(false, "the output of child \(number) is \(text.count) bytes")
      }
      isDone.leave()
    }
  }
  awaiting("the ends of 20 children")
  isDone.wait()
  decide(true, "the ends of 20 children and of their output were noticed")
}

promise("the ends of 20 children at once, and of their output, are noticed", body)
