// A program whose queue runs one long closure while others wait. With "item", the closure is
// submitted as a work item.
import Dispatch
import Glibc

let rows = DispatchQueue(label: "rows")
let done = DispatchGroup()

func rebuildIndex(pauses: Int) {
  let work = { for _ in 0..<pauses { usleep(1000) } }
  if CommandLine.arguments.contains("item") {
    rows.async(group: done, execute: DispatchWorkItem(block: work))
  } else {
    rows.async(group: done, execute: work)
  }
}

func addRow(_ row: Int) {
  rows.async(group: done) { if row < 0 { print(row) } }
}

// The first submission of a program is not recorded.
addRow(0)
done.wait()
// All items are submitted before the first one runs.
rows.suspend()
rebuildIndex(pauses: 300)
for row in 0..<3 { addRow(row) }
rows.resume()
done.wait()
print("done")
fflush(stdout)
_ = getchar()
