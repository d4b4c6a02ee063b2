// Purpose: the entry point of `swift run -c release tour [PATH]`, and of each process that the tour
// starts from its own executable.

import TourChapters
import TourJob
import TourJobDispatch
import TourKit

let arguments = CommandLine.unsafeArgv
let words = (1..<max(1, Int(CommandLine.argc))).compactMap { index in
  // CommandLine.arguments would lose paths that are not UTF-8.
  arguments[index].map { Path(cString: $0) }
}

if let request = EngineRequest(arguments: words) {
  switch request.engine {
  case .grandCentral: TourJob.EngineRun.run(request)
  case .dispatch: TourJobDispatch.EngineRun.run(request)
  case .serial: SerialLoop.run(request)
  }
}

if let request = SceneRequest(arguments: words) {
  if request.engine == .grandCentral { TourJob.SceneRun.run(request) }
  TourJobDispatch.SceneRun.run(request)
}

if let request = ChapterRequest(arguments: words) { ChapterProcess.run(request) }
if let service = Service(arguments: words) { service.run() }

do throws(Complaint) {
  switch try Command(words) {
  case .help: Machine.say(Command.helpText)
  case .tour(let options): Machine.leave(try Tour(options).run())
  }
} catch {
  Machine.put(Array("tour: \(error.message)\n".utf8), to: 2)
  Machine.leave(error.code)
}
