// The tour runs Grand Central on real work, in chapters of one file each: see Chapters/.
//
//     swift run -c release --package-path Examples tour [PATH]
//
// The main thread runs the main queue's items: the handlers of Ctrl-C. The chapters have a queue.

import Glibc
import GrandCentral

// Two chapters are about programs that deadlock or hang, and start the tour once more to be those.
if CommandLine.arguments.dropFirst().elementsEqual([Deadlock.argument]) { Deadlock.cause() }
if CommandLine.arguments.dropFirst().elementsEqual([Hang.argument]) { Hang.cause() }

do {
  guard let tour = try Tour(arguments: CommandLine.arguments.dropFirst()) else { exit(0) }

  // A signal source leaves a signal's usual effect alone, which is to end the process. So the
  // program ignores the signal. The handler refers to its source, and thus keeps it alive.
  for number in [SIGINT, SIGTERM] {
    signal(number, SIG_IGN)
    let requests = DispatchSource.makeSignalSource(signal: number, queue: .main)
    requests.setEventHandler {
      requests.cancel()
      dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO)  // The chapter prints nothing more.
      tour.cleanUp()
      exit(128 + number)
    }
    requests.activate()
  }

  DispatchQueue(label: "tour").async {
    let isRight = tour.run()
    tour.cleanUp()
    exit(isRight ? 0 : 1)
  }
  dispatchMain()
} catch {
  let text = "tour: \(error)\n"
  write(STDERR_FILENO, text, text.utf8.count)
  exit(2)
}
