// Purpose: copies a folder, many files at a time, each from channel to channel. No thread waits for
// a file: the end of one copy starts the next.

import GrandCentral
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// SAFETY: every variable is only touched by items of `queue`.
final class FolderCopy: @unchecked Sendable {
  struct Outcome: Sendable {
    var files = 0
    var bytes = 0
    var maxAtOnce = 0
    var faults: [FileFault] = []
  }

  /// The number of files copied at a time. Each uses two descriptors.
  static var maxAtOnce: Int { max(1, min(16, (Machine.descriptorLimit - 64) / 2)) }

  private let tree: FolderTree
  private let target: Path
  private let progress: CopyProgress
  private let queue = DispatchQueue(label: "tour.copy")
  private let underWay = DispatchGroup()
  private var next = 0
  private var atOnce = 0
  private var outcome = Outcome()

  /// - Parameter target: the folder to create; it must not exist.
  init(of tree: FolderTree, to target: Path, progress: CopyProgress) {
    self.tree = tree
    self.target = target
    self.progress = progress
  }

  /// Copies the folder. Blocks the calling thread, and no thread of the pool.
  func run() -> Outcome {
    for folder in tree.folders { make(folder) { mkdir($0, 0o700) } }
    for link in tree.links {
      guard let leadsTo = FolderTree.target(of: link) else { continue }
      make(link) { name in leadsTo.withCString { symlink($0, name) } }
    }
    queue.sync {
      for _ in 0..<min(Self.maxAtOnce, tree.files.count) { begin() }
    }
    underWay.wait()
    return queue.sync { outcome }
  }

  private func make(_ path: Path, _ call: (UnsafePointer<CChar>) -> Int32) {
    let copy = path.moved(from: tree.root, to: target)
    guard copy.withCString(call) != 0 else { return }
    let fault = FileFault(path: copy, code: errno)
    queue.sync { outcome.faults.append(fault) }
  }

  // MARK: On the queue

  private func begin() {
    guard next < tree.files.count else { return }
    let file = tree.files[next]
    next += 1
    atOnce += 1
    outcome.maxAtOnce = max(outcome.maxAtOnce, atOnce)
    underWay.enter()
    let copy = file.path.moved(from: tree.root, to: target)
    ChannelFlow(from: file.path, to: copy, whenMoved: { [progress] in progress.moved($0) })
      .start(mode: file.mode | 0o200) { [self] result in queue.async { self.ended(file, result) } }
  }

  private func ended(_ file: FolderTree.File, _ result: ChannelFlow.Outcome) {
    atOnce -= 1
    outcome.bytes += result.bytesWritten
    if let fault = result.fault {
      outcome.faults.append(fault)
    } else {
      outcome.files += 1
      progress.finishedFile()
    }
    begin()
    underWay.leave()
  }
}
