// Runs one workload on one machine: see scripts/dev scaling.
//   scaling list                              the workloads, a name and a summary each
//   scaling run NAME CORES [WORK [COUNT]]     WORK: nanoseconds that each item computes; COUNT:
//                                             items for each core
// The first line of a run's output is what it took; each further line is a site's counts.

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "list":
  for workload in Workload.all { print("\(workload.name)\t\(workload.summary)") }
case "run":
  let workload = Workload.all.first { $0.name == arguments[1] }
  guard let workload, let cores = Int(arguments[2]) else { stopProcess("scaling: no such run") }
  let work = arguments.count > 3 ? UInt64(arguments[3]) ?? 0 : 0
  let count = arguments.count > 4 ? Int(arguments[4]) ?? 0 : 1000
  Measurement(workload, cores: cores, work: work, count: count).run()
default:
  stopProcess("scaling: list | run NAME CORES [WORK [COUNT]]")
}
