// Runs the hot paths of the Swift interface under callgrind, as Benchmarks/Instructions does those
// of the C interface: its first lines say how the operations are counted. The verb `instructions`
// starts both programs and reads the counts.
import Glibc

// The arguments are those of Instructions.c.
let arguments = CommandLine.arguments.dropFirst()
let filter = arguments.first ?? ""
if filter == "--once" {
  guard arguments.count == 3, let operations = Int(arguments[3]),
    let row = rows.first(where: { $0.name == arguments[2] })
  else { exit(64) }
  row.run(operations)
  _exit(0)
}
for row in rows where filter == "--list" || strstr(row.name, filter) != nil {
  print("\(row.name)\t\(row.tolerance.rawValue)")
  fflush(nil)
  if filter != "--list" && !measure(row) {
    print("\(row.name): the process has failed, or was built without valgrind's headers.")
    exit(70)
  }
}
