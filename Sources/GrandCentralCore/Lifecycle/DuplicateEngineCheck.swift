// Room: Lifecycle/DuplicateEngineCheck. Detects other copies of the engine in the process and
// reports them once. Two copies do not damage each other: each has its own queues, threads and
// timers. But one copy does not know the other's queues, two pools make twice as many threads as
// there are CPUs, and a call to one, such as concurrentPerform(), does not reach the other. The
// first copy that is used and finds another prints the report.
import CGrandCentralLinux

enum DuplicateEngineCheck {
  static func reportOthers() {
    var copies = gc_engines()
    guard gc_engines_found(&copies) else { return }
    let places = withUnsafeBytes(of: copies.names) { names in
      names.bindMemory(to: UnsafePointer<CChar>?.self).prefix(Int(copies.count)).map {
        $0.map { String(cString: $0) } ?? "the program itself"
      }
    }
    report(
      .duplicateEngine,
      """
      GRAND CENTRAL: There are \(copies.count) copies of the engine in this process: \
      \(places.joined(separator: ", ")). \
      Each has queues and threads of its own, and they know nothing of each other. Link one: \
      either the program, \
      or the libdispatch.so that it loads.
      """)
  }
}
