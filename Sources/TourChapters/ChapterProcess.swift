// Purpose: runs one chapter as a process. The main thread runs the chapter and may block; all other
// work happens in handlers. A signal that requests the process to stop is an event of a source,
// whose handler removes the chapter's files and children before the process exits.

import GrandCentral
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

public enum ChapterProcess {
  /// Runs the chapter of `request` and ends the process: with 0 if every check held, else with 1.
  public static func run(_ request: ChapterRequest) -> Never {
    // The tour waits until this descriptor is closed, so no child may inherit it.
    _ = fcntl(EngineRequest.reportDescriptor, F_SETFD, FD_CLOEXEC)
    // If standard output has no reader, as in `tour | head`, the chapter still runs to its end and
    // removes its files and children.
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
      // Later failures are caused by this removal, so they are not printed.
      report.mute()
      Leavings.shared.clear()
      Machine.leave(128 + number)
    }
    source.activate()
    return source
  }
}
