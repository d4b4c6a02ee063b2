// Purpose: parses the command line and reports its errors.

import TourChapters
import TourKit

/// The reason for which the tour cannot continue, as a message for the user.
struct Complaint: Error {
  let message: String
  /// The exit code: 2 for an error of the command line, 1 for a fault that the tour found.
  let code: Int32

  static func usage(_ message: String) -> Complaint { Complaint(message: message, code: 2) }
  static func failure(_ message: String) -> Complaint { Complaint(message: message, code: 1) }
}

struct Options {
  /// The path argument; nil for the default folder.
  var path: Path?
  /// The number of runs of each engine; nil for the tour's choice.
  var rounds: Int?
  var descriptorLimit = max(1, min(64, Machine.descriptorLimit / 2))
  var isPlain = false
  /// The length of the pipeline's file, in megabytes (10⁶ bytes).
  var megabytes = 256
  /// The part to run; nil for the whole tour.
  var only: Part?

  enum Part: Equatable {
    case checksums
    case live(LiveChapter)

    init?(_ name: String) {
      if name == "checksums" {
        self = .checksums
      } else if let chapter = LiveChapter(rawValue: name) {
        self = .live(chapter)
      } else {
        return nil
      }
    }
  }

  func includes(_ part: Part) -> Bool { only == nil || only == part }
}

enum Command {
  case help
  case tour(Options)

  static let helpText = """
    Usage: tour [--rounds N] [--descriptors N] [--megabytes N] [--only PART] [--plain] [PATH]

    Checksums every file below PATH three ways: a plain serial loop, the toolchain's Dispatch and
    Grand Central; the last two run the same source. Compares what they found with each other and
    with the cksum command, and prints a table of times, threads and memory.

    Then the live chapters, on Grand Central: an echo server, to which nc sends files of PATH; a
    folder that commands change; a child that is restarted when it fails; a long file, made of those
    of PATH, that is transliterated as tr does it; a folder of PATH, copied beside cp; requests beside
    a scan of PATH in the background, and urgent work behind it, on both engines.

      PATH             a folder or a file; by default one that comes with every toolchain
      --rounds N       how often each engine runs (default: 5, or 3 where a run takes a second)
      --descriptors N  how many files an engine may have open at a time (default: 64)
      --megabytes N    how long the transliterated file is (default: 256); twice that is written
      --only PART      checksums, echo, folder, child, pipeline, copy or classes
      --plain          lines instead of a progress bar, as when standard output is no terminal
      --help           this text

    Exit code: 0 when everything agrees, 1 when something does not, 2 for a wrong command line or
    PATH, 130 after Ctrl-C.

    """

  init(_ words: [Path]) throws(Complaint) {
    var options = Options()
    var rest = words[...]
    var areOptionsOver = false
    while let word = rest.popFirst() {
      let text = word.description
      if areOptionsOver || !text.hasPrefix("-") {
        guard options.path == nil else {
          throw .usage("one PATH is enough, but '\(text)' is a second one. Try 'tour --help'.")
        }
        options.path = word
        continue
      }
      switch text {
      case "--": areOptionsOver = true
      case "--plain": options.isPlain = true
      case "--rounds": options.rounds = try Self.number(after: text, in: &rest)
      case "--descriptors": options.descriptorLimit = try Self.number(after: text, in: &rest)
      case "--megabytes": options.megabytes = try Self.number(after: text, in: &rest)
      case "--only":
        guard let name = rest.popFirst()?.description, let part = Options.Part(name) else {
          throw .usage(
            "--only takes checksums, echo, folder, child, pipeline, copy or classes. Try 'tour --help'."
          )
        }
        options.only = part
      case "--help", "-h":
        self = .help
        return
      default: throw .usage("there is no option '\(text)'. Try 'tour --help'.")
      }
    }
    self = .tour(options)
  }

  private static func number(
    after option: String, in rest: inout ArraySlice<Path>
  ) throws(Complaint) -> Int {
    guard let text = rest.popFirst()?.description, let number = Int(text), 1...10_000 ~= number
    else { throw .usage("\(option) takes a number from 1 to 10000. Try 'tour --help'.") }
    return number
  }
}
