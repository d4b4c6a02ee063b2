// Room: Faults/Copies. Other copies of the engine in the same process.
// Two of them do no harm to each other: each has queues, threads and timers of its own. But a queue of one is none of the
// other, two pools make twice as many threads as there are CPUs for, and what is said to one, as by dispatchMain(), the
// other does not hear. So it is told, once, by the first that is used and finds another.
import CLinux

enum Copies {
  static func reportOthers() {
    var copies = gc_copies()
    guard gc_copies_found(&copies) else { return }
    let places = withUnsafeBytes(of: copies.names) { names in
      names.bindMemory(to: UnsafePointer<CChar>?.self).prefix(Int(copies.count)).map {
        $0.map { String(cString: $0) } ?? "the program itself"
      }
    }
    report(
      .duplicateEngine,
      """
      GRAND CENTRAL: There are \(copies.count) copies of the engine in this process: \(places.joined(separator: ", ")). \
      Each has queues and threads of its own, and they know nothing of each other. Link one: either the program, \
      or the libdispatch.so that it loads.
      """)
  }
}
