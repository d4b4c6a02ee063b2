// Purpose: the options of the command line.

import FuzzKit

struct Options {
  var seconds: Int?
  var seed: UInt64?
  var programs: Int?
  var engines = ["ours"]
  var fault: Fault?
  var replayIndex: Int?
  var program: Program?
  var times = 2000
  var hangSeconds = 20
  var shrinkSeconds = 60
  var busyPercent = Generator.defaultBusyPercent
  var printsOnly = false

  static let help = """
    usage: fuzz [SECONDS] [SEED] [OPTION…]

    Runs random programs on an engine and judges each by its log alone. Stops at the first broken
    promise, shrinks the program, and prints it as Swift source. Exit code: 0 nothing found, 1 \
    found,
    2 wrong arguments.

      --programs N            at most N programs, with no limit of time unless SECONDS is given
      --engine NAME           ours (default), toolchain, both
      --replay SEED[:PROGRAM] that seed again, or one of its programs until it fails
      --program TEXT          a program as a report prints it, until it fails
      --times N               how often --replay and --program try; default 2000
      --print SEED:PROGRAM    only prints a program as Swift source
      --fault NAME            breaks a promise on purpose
      --busy PERCENT          in how many of 100 programs items wait busily for others; default 3
      --hang-seconds N        how long one run may take; default 20. With busy waits twice that, or
                              eight times where they use the CPUs of a concurrent or global queue
      --shrink-seconds N      how long to look for a smaller program; default 60
      --list-faults           the names for --fault
    """

  struct Complaint: Error { let message: String }

  init(_ words: [String]) throws(Complaint) {
    var words = words[...]
    var plain: [UInt64] = []
    while let word = words.popFirst() {
      guard word.hasPrefix("--") else {
        guard let number = UInt64(word) else { throw Complaint(message: "what is '\(word)'?") }
        plain.append(number)
        continue
      }
      try read(word, &words)
    }
    if plain.count > 2 { throw Complaint(message: "one number is SECONDS, a second SEED") }
    if let first = plain.first { seconds = Int(first) }
    if plain.count > 1 { seed = plain[1] }
    if seconds == nil && programs == nil { seconds = 60 }
  }

  private mutating func read(
    _ word: String, _ words: inout ArraySlice<String>
  ) throws(Complaint) {
    guard let value = words.popFirst() else { throw Complaint(message: "\(word) wants a value") }
    switch word {
    case "--programs": programs = try Self.number(value)
    case "--engine":
      guard ["ours", "toolchain", "both"].contains(value) else {
        throw Complaint(message: "the engines are: ours, toolchain, both")
      }
      engines = value == "both" ? ["ours", "toolchain"] : [value]
    case "--replay", "--print":
      let parts = value.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count <= 2, let seed = UInt64(parts[0]) else {
        throw Complaint(message: "\(word) wants SEED:PROGRAM")
      }
      self.seed = seed
      if parts.count == 2 { replayIndex = try Self.number(String(parts[1])) }
      printsOnly = word == "--print"
    case "--program":
      guard let program = Program(text: value), program.isLegal else {
        throw Complaint(message: "--program: this is no legal program")
      }
      self.program = program
    case "--times": times = try Self.number(value)
    case "--fault":
      guard let fault = Fault(rawValue: value) else {
        throw Complaint(message: "no fault '\(value)'; --list-faults shows them")
      }
      self.fault = fault
    case "--busy": busyPercent = try Self.number(value)
    case "--hang-seconds": hangSeconds = try Self.number(value)
    case "--shrink-seconds": shrinkSeconds = try Self.number(value)
    default: throw Complaint(message: "no option '\(word)'")
    }
  }

  private static func number(_ text: String) throws(Complaint) -> Int {
    guard let number = Int(text), number >= 0 else {
      throw Complaint(message: "'\(text)' is no number")
    }
    return number
  }
}
