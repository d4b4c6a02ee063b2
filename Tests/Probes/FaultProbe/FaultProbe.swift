// Causes one fault in its own process and reports what happened to the work: "ok …" or "FAILED …"
// for each check, and "skipped …" if this machine cannot produce the fault. FaultTests reads it.
// Sleeping, stopped and starved threads are the subject here, so it sleeps and spins.
import CFaults
import Glibc
import GrandCentral
import TestSupport

@main struct FaultProbe {
  static func main() {
    let words = (CommandLine.arguments.dropFirst().first ?? "").split(separator: ":")
    guard let name = words.first, let run = scenarios[String(name)] else {
      print("unknown scenario; there are: \(scenarios.keys.sorted().joined(separator: " "))")
      exit(2)
    }
    run(words.dropFirst().map(String.init))
    finish()
  }

  nonisolated(unsafe) private static let scenarios: [String: ([String]) -> Void] = [
    "refused": refusedFromTheStart, "refused-later": refusedLater, "never": neverAThread,
    "descriptors": noDescriptors, "sandbox": sandbox, "signals": signalStorm,
    "stopped": stoppedAndContinued, "slow-worker": slowWorker, "cpus": changingCPUs,
    "cpus-before-use": changingCPUsBeforeUse,
    "one-cpu": oneCPU, "quota": quota, "deadlines": deadlines,
    "events-descriptors": eventsWithoutDescriptors, "events-refused": eventsRefused,
    "events-threads": eventsWithoutThreads, "events-signals": eventsUnderSignals,
    "changes": unknownChanges, "sandboxed-processes": sandboxedProcesses,
    "files": filesRefused, "memory": memoryLimit, "transfers": transfers,
    "channels-refused": channelsRefused, "channels-descriptors": channelsWithoutDescriptors,
    "channels-unprivileged": channelsUnprivileged, "channels-signals": channelsUnderSignals,
    "effects": effects,
    "effects-lost": effectsOfLostPrivilege, "effects-maker": effectsOfLoweredMaker,
    "effects-alternating": effectsOfAlternatingClasses,
    "long-report": longReport, "report": shortReport,
  ]
}

private let failures = Counter()

func check(_ isTrue: Bool, _ what: String) {
  print(isTrue ? "ok \(what)" : "FAILED \(what)")
  if !isTrue { failures.add() }
}

func finish() -> Never {
  fflush(nil)
  exit(failures.value == 0 ? 0 : 1)
}

/// Ends the probe, because this machine cannot produce the fault.
func skip(_ why: String) -> Never {
  print("skipped \(why)")
  fflush(nil)
  exit(0)
}
