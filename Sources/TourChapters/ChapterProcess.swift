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
    // Where nobody reads on, as in `tour | head`, it still goes to its end and takes its things
    // away.
    signal(SIGPIPE, SIG_IGN)
    // SIGTERM is what the supervised child's chapter is about.
    let stops = [SIGINT, SIGHUP] + (request.chapter == .child ? [] : [SIGTERM])
    let report = ChapterReport(screen: Screen(plain: request.isPlain))
    let sources = stops.map { leave(at: $0, report) }
    Leavings.shared.remember()
    switch request.chapter {
    case .echo: EchoChapter(report: report, root: request.root).run()
    case .folder: FolderChapter(report: report).run()
    case .child: ChildChapter(report: report).run()
    case .pipeline:
      PipelineChapter(
        report: report, root: request.root, bytes: request.megabytes * 1_000_000
      ).run()
    case .copy: CopyChapter(report: report, root: request.root).run()
    case .classes: ClassesChapter(report: report, root: request.root).run()
    }
    let left = Leavings.shared.found()
    report.check(
      left.isEmpty, "no file, child or descriptor is left behind",
      otherwise: left.joined(separator: ", "))
    Leavings.shared.clear()
    report.waitIfMuted()
    for source in sources { source.cancel() }
    Machine.leave(report.failures == 0 ? 0 : 1)
  }

  private static func leave(at number: Int32, _ report: ChapterReport) -> any DispatchSourceSignal {
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
    source.setEventHandler {
      // What fails from now on fails because it is taken away.
      report.mute()
      Leavings.shared.clear()
      Machine.leave(128 + number)
    }
    source.activate()
    return source
  }
}
