// Measures Grand Central beside the toolchain's Dispatch. The same workloads are compiled against
// each and run alternately in one process. libuv is measured too where it can do the same job.

import Glibc
import Metrics

let options = Options(Array(CommandLine.arguments.dropFirst()))

if let child = options.child {
  Child.serve(child.workload, child.engine, count: child.count)
  exit(0)
}

let pairings = Pairing.all().filter { $0.matches(options.filter) }
if pairings.isEmpty { fail("no workload matches '\(options.filter)'; try --list") }
let table = Table(
  rows: pairings.flatMap(\.rows),
  hasLibuv: options.engines.contains(.libuv)
    && pairings.contains { $0.workload(of: .libuv) != nil })

if options.list {
  for row in pairings.flatMap(\.rows) { emit(table.listing(row)) }
  exit(0)
}

let more = options.quick ? "" : ", up to three times as many where they disagree"
emit(
  """
  Medians of \(options.rounds) rounds\(more).
  Ratio: the median, and the 10th to 90th percentile, of the rounds' own ratios, ours ÷ peer
  (the toolchain's) and ours ÷ libuv.
  Smaller is better in every row.


  """)
emit(table.header)

let runner = Runner(options: options)
var measurements: [Measurement] = []
for pairing in pairings {
  for measurement in runner.measure(pairing) {
    emit(table.line(measurement))
    measurements.append(measurement)
  }
}
if let path = options.json { JSON.write(measurements, options: options, to: path) }

let verdicts = measurements.map { Reach.of($0.row.name).verdict(of: $0) }
let counts = [Verdict.pass, .over, .unsure, .unjudged].map { kind in
  verdicts.count { $0 == kind }
}
emit(
  "\n\(verdicts.count) rows: \(counts[0]) pass, \(counts[1]) over, "
    + "\(counts[2]) over within the noise, \(counts[3]) not judged\n")
exit(options.strict && counts[1] > 0 ? 1 : 0)
