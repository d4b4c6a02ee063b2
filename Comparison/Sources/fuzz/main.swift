// Purpose: the fuzzer's entry point, also for workers; see Options.help.

import FuzzEngine
import FuzzEngineDispatch
import FuzzKit
import Glibc

let words = Array(CommandLine.arguments.dropFirst())

if words.first == "--worker", words.count == 3 {
  let fault = Fault(rawValue: words[2])
  switch words[1] {
  case FuzzEngine.ThisEngine.name: Worker<FuzzEngine.ThisEngine>.serve(fault: fault)
  default: Worker<FuzzEngineDispatch.ThisEngine>.serve(fault: fault)
  }
}
if words.contains("--help") {
  say(Options.help)
  exit(0)
}
if words.contains("--list-faults") {
  for fault in Fault.allCases { say(fault.rawValue) }
  exit(0)
}

do throws(Options.Complaint) {
  let options = try Options(words)
  exit(run(options))
} catch {
  say("fuzz: \(error.message)\n\(Options.help)")
  exit(2)
}

func run(_ options: Options) -> Int32 {
  // A write to a worker that has exited must not end the host.
  signal(SIGPIPE, SIG_IGN)
  let seed = options.seed ?? UInt64.random(in: 0...UInt64(UInt32.max))
  if options.printsOnly { return printOnly(options, seed) }
  say("fuzz: seed \(seed)")
  var isClean = true
  for name in options.engines { isClean = host(name, options, seed).run() && isClean }
  return isClean ? 0 : 1
}

func host(_ name: String, _ options: Options, _ seed: UInt64) -> Host {
  func make<Engine: TestedEngine>(_ engine: Engine.Type) -> Host {
    Host(
      engine: name, module: engine.module, capabilities: engine.capabilities, options: options,
      seed: seed)
  }
  return name == FuzzEngine.ThisEngine.name
    ? make(FuzzEngine.ThisEngine.self) : make(FuzzEngineDispatch.ThisEngine.self)
}

func printOnly(_ options: Options, _ seed: UInt64) -> Int32 {
  let host = host(options.engines[0], options, seed)
  let program = host.program(options.replayIndex ?? 0)
  say(SwiftSource.text(of: program, module: host.module))
  return 0
}
