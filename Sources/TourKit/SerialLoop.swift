// Purpose: the reference for the engines: the same walk and checksums on one thread, with no queue,
// lock or atomic except the gauge's.

public struct SerialLoop {
  private let root: Path
  private let gauge: Gauge
  private let draw: () -> Void
  private var findings = Findings()
  private var kinds: [String: FileKind] = [:]

  public init(root: Path, gauge: Gauge, draw: @escaping () -> Void = {}) {
    self.root = root
    self.gauge = gauge
    self.draw = draw
  }

  /// Runs the loop for `request` and ends the process: with 0, or with an interruption's code.
  public static func run(_ request: EngineRequest) -> Never {
    Interruption.watch()
    let line = request.progressLine
    let gauge = Gauge(intervalNanoseconds: line.screen.intervalNanoseconds)
    let loop = SerialLoop(root: request.root, gauge: gauge) { line.draw(gauge) }
    request.finish(with: loop.run())
  }

  /// Walks and checksums everything below the root. Stops when interrupted.
  public consuming func run() -> RunReport {
    var loop = self
    var folders: [Path] = []
    if EntryKind(of: loop.root, following: true) == .folder {
      folders.append(loop.root)
    } else {
      loop.checksum(loop.root)
    }
    while let folder = folders.popLast(), !Interruption.isRaised {
      do throws(FileFault) {
        let listing = try FolderListing(of: folder)
        loop.findings.folders += 1
        loop.findings.others += listing.others
        folders.append(contentsOf: listing.folders)
        for file in listing.files where !Interruption.isRaised { loop.checksum(file) }
      } catch {
        loop.findings.faults.append(error)
      }
    }
    let costs = Costs(since: loop.gauge.start)
    loop.findings.sort()
    return RunReport(findings: loop.findings, costs: costs, isPartial: Interruption.isRaised)
  }

  private mutating func checksum(_ path: Path) {
    let outcome = checksumFile(path) { [gauge, draw] count in
      if gauge.advance(bytes: count) { draw() }
      return !Interruption.isRaised
    }
    switch outcome {
    case .done(let checksum, let count):
      let kind = kind(of: path)
      findings.files.append(FileRecord(path: path, checksum: checksum, count: count, kind: kind))
      if gauge.advance(files: 1) { draw() }
    case .failed(let fault): findings.faults.append(fault)
    case .stopped: break
    }
  }

  private mutating func kind(of path: Path) -> FileKind {
    let suffix = path.fileExtension
    if let known = kinds[suffix] { return known }
    let kind = FileKind(extension: suffix)
    kinds[suffix] = kind
    return kind
  }
}
