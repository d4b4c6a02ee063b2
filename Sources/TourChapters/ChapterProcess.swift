// Purpose: a whole process around one chapter. Its main thread walks through the chapter and may
// block; everything else happens in handlers. A signal that asks to stop is a source's event, and
// takes away what the chapter has made before the process leaves.

import GrandCentral
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

public enum ChapterProcess {
  /// Runs the chapter as `request` says and ends the process: with 0 when every check held, else 1.
  public static func run(_ request: ChapterRequest) -> Never {
    // The tour waits for this descriptor's end: no child may keep it.
    _ = fcntl(EngineRequest.reportDescriptor, F_SETFD, FD_CLOEXEC)
    // Where nobody reads on, as in `tour | head`, it still goes to its end and takes its things away.
    signal(SIGPIPE, SIG_IGN)
    // SIGTERM is what the supervised child's chapter is about.
    let stops = [SIGINT, SIGHUP] + (request.chapter == .child ? [] : [SIGTERM])
    let sources = stops.map(leave(at:))
    let report = ChapterReport(screen: Screen(plain: request.isPlain))
    Leavings.shared.remember()
    switch request.chapter {
    case .echo: EchoChapter(report: report, root: request.root).run()
    case .folder: FolderChapter(report: report).run()
    case .child: ChildChapter(report: report).run()
    }
    let left = Leavings.shared.found()
    report.check(
      left.isEmpty, "no file, child or descriptor is left behind",
      otherwise: left.joined(separator: ", "))
    Leavings.shared.clear()
    for source in sources { source.cancel() }
    Machine.leave(report.failures == 0 ? 0 : 1)
  }

  private static func leave(at number: Int32) -> any DispatchSourceSignal {
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
    source.setEventHandler {
      Leavings.shared.clear()
      Machine.leave(128 + number)
    }
    source.activate()
    return source
  }
}
