// Walks one path of the engine N times, with nothing else: PathProbe async|sync|read N. The verb
// `paths` runs it twice with coverage counters, and takes the difference.
// The main thread waits in read(2), which the engine does not see.
import Glibc
import GrandCentral

@main
enum PathProbe {
  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let times = Int(arguments[2]) else { fail("PathProbe PATH N") }
    switch arguments[1] {
    case "async": walkAsync(times)
    case "sync": walkSync(times)
    case "read": walkRead(times)
    default: fail("There is no path '\(arguments[1])': async, sync, read.")
    }
    exit(0)
  }

  /// An item on an idle serial queue, and the end of its run. The pause lets the worker park, so
  /// that every step wakes it.
  static func walkAsync(_ times: Int) {
    let queue = DispatchQueue(label: "path")
    let done = Pipe()
    for _ in 0..<times {
      queue.async { done.send() }
      done.receive()
      usleep(2000)
    }
  }

  /// A call of `sync` on an idle serial queue.
  static func walkSync(_ times: Int) {
    let queue = DispatchQueue(label: "path")
    var sum = 0
    for number in 0..<times { queue.sync { sum += number } }
  }

  /// A byte that arrives in a pipe, until its source's handler has run.
  static func walkRead(_ times: Int) {
    let queue = DispatchQueue(label: "path")
    let (arrived, done) = (Pipe(), Pipe())
    let source = DispatchSource.makeReadSource(fileDescriptor: arrived.ends.read, queue: queue)
    source.setEventHandler {
      arrived.receive()
      done.send()
    }
    source.activate()
    for _ in 0..<times {
      arrived.send()
      done.receive()
    }
  }

  static func fail(_ message: String) -> Never {
    print(message)
    exit(2)
  }
}

/// A pipe that carries single bytes.
struct Pipe: Sendable {
  let ends: (read: Int32, write: Int32)

  init() {
    var made: [Int32] = [0, 0]
    guard pipe(&made) == 0 else { PathProbe.fail("pipe(2) failed: errno \(errno).") }
    ends = (made[0], made[1])
  }

  func send() {
    var byte: UInt8 = 0
    while write(ends.write, &byte, 1) != 1 {}
  }

  func receive() {
    var byte: UInt8 = 0
    while read(ends.read, &byte, 1) != 1 {}
  }
}
