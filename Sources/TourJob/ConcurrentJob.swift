// Purpose: the job with GCD in the usual style. A folder is an item on the walking queue, a file is
// an item on the checksum queue. A serial queue collects the results; a group reports the end.
//
//   walk (concurrent, user-initiated) ─→ checksum (concurrent, utility) ─→ results (serial)
//        └─ a folder's subfolders            └─ kinds: reader–writer cache      └─ group.notify
//
// The file compiles against either engine; nothing below the import depends on which.

import TourKit

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

/// One walk over everything below a root. Start it once.
// SAFETY: `findings` is only touched by items of `results`. `firstItem` is only written in
// `start`, before any item that reads it is submitted.
public final class ConcurrentJob: @unchecked Sendable {
  private let walking = DispatchQueue(
    label: "tour.walking", qos: .userInitiated, attributes: .concurrent)
  private let checksumming = DispatchQueue(
    label: "tour.checksumming", qos: .utility, attributes: .concurrent)
  private let results = DispatchQueue(label: "tour.results", qos: .utility)
  private let kinds = ReaderWriterCache<String, FileKind>(label: "tour.kinds")
  private let group = DispatchGroup()
  private let descriptors: DispatchSemaphore

  private let root: Path
  private let gauge: Gauge
  private let draw: @Sendable () -> Void
  private var findings = Findings()
  private var firstItem: DispatchWorkItem?

  /// - Parameters:
  ///   - root: the file or folder to walk.
  ///   - descriptorLimit: the maximum number of files and folders open at a time.
  ///   - gauge: counts the progress.
  ///   - draw: called on the thread that finds, through the gauge, that a drawing is due.
  public init(
    root: Path, descriptorLimit: Int, gauge: Gauge, draw: @escaping @Sendable () -> Void = {}
  ) {
    self.root = root
    self.gauge = gauge
    self.draw = draw
    descriptors = DispatchSemaphore(value: descriptorLimit)
  }

  /// Starts the walk and returns. `completion` is called once, on the results queue.
  public func start(completion: @escaping @Sendable (RunReport) -> Void) {
    let isFolder = EntryKind(of: root, following: true) == .folder
    let item = DispatchWorkItem(qos: .userInitiated) { [unowned self, root] in
      if isFolder { walk(root) } else { submit(file: root) }
    }
    firstItem = item
    walking.async(group: group, execute: item)
    // Every result was submitted from inside the group, and the results queue is serial, so this
    // item runs after all of them. It also retains the job until then.
    group.notify(queue: results) { [self] in
      let costs = Costs(since: gauge.start)
      let isPartial = item.isCancelled
      findings.sort()
      completion(RunReport(findings: findings, costs: costs, isPartial: isPartial))
    }
  }

  /// Stops the job: items that have not started do nothing, others stop after the current piece.
  public func cancel() {
    firstItem?.cancel()
  }

  /// Whether the job is cancelled. The first item represents the job, so all items check its state.
  private var isStopped: Bool {
    guard let firstItem else { return true }
    if Interruption.isRaised { firstItem.cancel() }
    return firstItem.isCancelled
  }

  private func submit(folder: Path) {
    walking.async(group: group) { [self] in walk(folder) }
  }

  private func submit(file: Path) {
    checksumming.async(group: group) { [self] in checksum(file) }
  }

  /// Lists a folder and submits an item for each entry.
  private func walk(_ folder: Path) {
    if isStopped { return }
    do throws(FileFault) {
      descriptors.wait()
      defer { descriptors.signal() }
      let listing = try FolderListing(of: folder)
      for file in listing.files { submit(file: file) }
      for subfolder in listing.folders { submit(folder: subfolder) }
      collect {
        $0.folders += 1
        $0.others += listing.others
      }
    } catch {
      collect { $0.faults.append(error) }
    }
  }

  private func checksum(_ file: Path) {
    if isStopped { return }
    descriptors.wait()
    let outcome = checksumFile(file) { count in
      if gauge.advance(bytes: count) { draw() }
      return !isStopped
    }
    descriptors.signal()
    switch outcome {
    case .done(let checksum, let count):
      let kind = kinds.value(for: file.fileExtension, make: FileKind.init(extension:))
      let record = FileRecord(path: file, checksum: checksum, count: count, kind: kind)
      collect { $0.files.append(record) }
      if gauge.advance(files: 1) { draw() }
    case .failed(let fault): collect { $0.faults.append(fault) }
    case .stopped: break
    }
  }

  /// Submits a result to the serial queue.
  private func collect(_ change: @escaping @Sendable (inout Findings) -> Void) {
    results.async { [self] in change(&findings) }
  }
}
