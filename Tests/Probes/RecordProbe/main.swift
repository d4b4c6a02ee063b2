// Programs to record.
//   count N   submits N items to each of three queues, waits for them, and prints "done"
//   hot       floods the serial queue 'hot', and prints "ready"
//   service   serves requests for some time, and prints "done"
//   serve     serves requests, and prints "ready"
//   levels N [MICROSECONDS]
//             prints what an item costs at each level of recording, N times; each works so long
//   SCENE     does one of the scenes in Scenes.swift, and prints "done"
// They end when their standard input ends.
import Glibc
import GrandCentral

/// Submits items; one queue is serial, one concurrent, and one concurrent on top of that.
func count(_ items: Int) -> Never {
  let serial = DispatchQueue(label: "serial")
  let shared = DispatchQueue(label: "shared", attributes: .concurrent)
  let upper = DispatchQueue(label: "upper", attributes: .concurrent, target: shared)
  let group = DispatchGroup()
  for queue in [serial, shared, upper] {
    for _ in 0..<items { queue.async(group: group) {} }
  }
  group.wait()
  // An item leaves the group before its end is recorded.
  for queue in [serial, upper, shared] { queue.sync(flags: .barrier) {} }
  _ = write(STDOUT_FILENO, "done\n", 5)
  waitForEndOfInput()
}

func spin(microseconds: UInt64) {
  let begin = DispatchTime.now().uptimeNanoseconds
  while DispatchTime.now().uptimeNanoseconds - begin < microseconds * 1000 {}
}

/// Keeps 200 items in line: each submits itself again.
func flood() -> Never {
  let hot = DispatchQueue(label: "hot")
  for _ in 0..<200 { again(on: hot) }
  // In an item: by then the program has a board.
  hot.async { _ = write(STDOUT_FILENO, "ready\n", 6) }
  waitForEndOfInput()
}

func again(on queue: DispatchQueue) {
  queue.async {
    spin(microseconds: 100)
    again(on: queue)
  }
}

func waitForEndOfInput() -> Never {
  var byte: UInt8 = 0
  _ = read(STDIN_FILENO, &byte, 1)
  _exit(0)
}

switch CommandLine.arguments.dropFirst().first {
case "count": count(CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 0)
case "hot": flood()
case "service":
  Service().serve(bursts: 40)
  _ = write(STDOUT_FILENO, "done\n", 5)
  waitForEndOfInput()
case "serve":
  _ = write(STDOUT_FILENO, "ready\n", 6)
  DispatchQueue(label: "service.input").async { Service().serve(bursts: .max) }
  waitForEndOfInput()
case "levels":
  let numbers = CommandLine.arguments.dropFirst(2).map { Int($0) ?? 0 } + [0, 0]
  try levels(rounds: numbers[0], microseconds: numbers[1])
case let scene?:
  let scenes = [
    "long-item": longItem, "explosion": explosion, "inversion": inversion,
    "late-timer": lateTimer, "starved-source": starvedSource, "lock-order": lockOrder,
    "crowd": crowd,
  ]
  guard let run = scenes[scene] else { exit(64) }
  run()
  _ = write(STDOUT_FILENO, "done\n", 5)
  waitForEndOfInput()
case nil: exit(64)
}
