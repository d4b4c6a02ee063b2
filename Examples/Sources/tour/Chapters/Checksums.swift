// Chapter 1: queues, a group and a semaphore. Checksums every file below PATH, first in a plain
// loop, then with an item for each folder and each file. Both must find the same.
//
//   folders (concurrent)              files (concurrent)              findings (serial)
//   lists a folder  ── each file ──→  checksums the file  ── result ──→  records it
//       └─ each folder inside ─→ folders

import Glibc
import GrandCentral

/// What is found below a folder.
struct Findings: Sendable {
  var checksums: [String: Checksum] = [:]
  /// Why some files and folders cannot be read.
  var failures: [String: Failure] = [:]
  /// The threads that have checksummed a file.
  var threads: Set<pthread_t> = []

  var bytes: Int { checksums.values.reduce(0) { $0 + $1.bytes } }
}

/// The plain loop, on one thread.
func checksumsByLoop(below path: String) -> Findings {
  var findings = Findings()
  findings.threads = [pthread_self()]
  var folders = [path]
  while let folder = folders.popLast() {
    do throws(Failure) {
      let listing = try Listing(of: folder)
      folders += listing.folders
      for file in listing.files {
        do throws(Failure) {
          findings.checksums[file] = try Checksum(ofFile: file)
        } catch {
          findings.failures[file] = error
        }
      }
    } catch {
      findings.failures[folder] = error
    }
  }
  return findings
}

/// The same with Grand Central.
final class ChecksumJob: Sendable {
  // Folders are more urgent: the more files are known, the more can be read at the same time.
  private let folders = DispatchQueue(
    label: "checksums.folders", qos: .userInitiated, attributes: .concurrent)
  private let files = DispatchQueue(label: "checksums.files", attributes: .concurrent)
  private let findings = Guarded(Findings(), label: "checksums.findings")
  /// Counts the items that are not done.
  private let underWay = DispatchGroup()
  /// Counts the descriptors that may still be opened, because a process has a limited number.
  private let descriptors = DispatchSemaphore(value: 32)

  /// Walks everything below `path`. Returns when all is done.
  func run(_ path: String) -> Findings {
    walk(path)
    underWay.wait()
    // A serial queue keeps the order of submission, so this runs after everything is recorded.
    return findings.sync { $0 }
  }

  private func walk(_ folder: String) {
    folders.async(group: underWay) { [self] in
      descriptors.wait()
      defer { descriptors.signal() }
      do throws(Failure) {
        let listing = try Listing(of: folder)
        for folder in listing.folders { walk(folder) }
        for file in listing.files { checksum(file) }
      } catch {
        findings.async { $0.failures[folder] = error }
      }
    }
  }

  private func checksum(_ file: String) {
    files.async(group: underWay) { [self] in
      descriptors.wait()
      defer { descriptors.signal() }
      let thread = pthread_self()
      do throws(Failure) {
        let checksum = try Checksum(ofFile: file)
        findings.async {
          $0.checksums[file] = checksum
          $0.threads.insert(thread)
        }
      } catch {
        findings.async { $0.failures[file] = error }
      }
    }
  }
}

extension Chapter {
  static let checksums = Chapter(
    name: "checksums", summary: "every file below PATH, in a plain loop and on concurrent queues"
  ) { tour in
    tour.say("reading \(tour.path)")
    var found = ChecksumJob().run(tour.path)  // From the disk. From here on, the files are cached.
    var expected = found
    tour.say("\(found.checksums.count) files, \(found.bytes.megabytes)")
    for failure in found.failures.values.prefix(3) { tour.say("left out: \(failure)") }

    var (loop, queues, total) = (Duration.seconds(3600), Duration.seconds(3600), Duration.zero)
    for _ in 0..<20 where total < .seconds(2) {
      let loopTime = timed { expected = checksumsByLoop(below: tour.path) }
      let queuesTime = timed { found = ChecksumJob().run(tour.path) }
      loop = min(loop, loopTime)
      queues = min(queues, queuesTime)
      total += loopTime + queuesTime
    }
    tour.row("", "time", "speed", "threads")
    tour.row("a plain loop", loop.words, found.bytes.rate(per: loop), "\(expected.threads.count)")
    tour.row("Grand Central", queues.words, found.bytes.rate(per: queues), "\(found.threads.count)")
    tour.say("Grand Central is \((loop / queues).short) times as fast.")
    tour.check(
      found.checksums == expected.checksums && found.failures == expected.failures,
      "both find the same files and the same checksums",
      "they differ. If files change at present, run the chapter again.")
  }
}
