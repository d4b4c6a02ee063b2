// Purpose: the messages between the host and the process that runs programs: one line in each
// direction, followed by the text of a finding.

import FuzzKit

enum Request {
  /// Run programs of a seed; the given percentage of them waits busily.
  case range(seed: UInt64, Range<Int>, busyPercent: Int)
  /// Run one program, this many times.
  case program(Program, times: Int)

  func line(hangMilliseconds: Int) -> String {
    switch self {
    case .range(let seed, let indices, let percent):
      "range \(hangMilliseconds) \(seed) \(indices.lowerBound) \(indices.count) \(percent)"
    case .program(let program, let times):
      "program \(hangMilliseconds) \(times) \(program.text)"
    }
  }

  init?(line: Substring, hangMilliseconds: inout Int) {
    let words = line.split(separator: " ", maxSplits: 3)
    guard words.count == 4, let limit = Int(words[1]) else { return nil }
    hangMilliseconds = limit
    switch words[0] {
    case "range":
      let numbers = words[3].split(separator: " ").compactMap { Int($0) }
      guard let seed = UInt64(words[2]), numbers.count == 3 else { return nil }
      self = .range(
        seed: seed, numbers[0]..<numbers[0] + numbers[1], busyPercent: numbers[2])
    case "program":
      guard let times = Int(words[2]), let program = Program(text: words[3]) else { return nil }
      self = .program(program, times: times)
    default: return nil
    }
  }
}

enum Reply {
  /// No finding; the number and duration of the longest run.
  case clean(slowest: Int, milliseconds: Int)
  /// A finding. `index` is the number of the program, or of the repetition.
  case broken(index: Int, Invariant, text: String)

  var text: String {
    switch self {
    case .clean(let index, let milliseconds): return "clean \(index) \(milliseconds)\n"
    case .broken(let index, let invariant, let text):
      let place = Invariant.allCases.firstIndex(of: invariant)!
      return "broken \(index) \(place) \(text.utf8.count)\n\(text)"
    }
  }

  /// Parses a reply; `nil` if it is incomplete.
  init?(bytes: [UInt8]) {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    let words = String(decoding: bytes[..<end], as: UTF8.self).split(separator: " ")
    let numbers = words.dropFirst().compactMap { Int($0) }
    if words.first == "clean", numbers.count == 2 {
      self = .clean(slowest: numbers[0], milliseconds: numbers[1])
      return
    }
    let rest = bytes[(end + 1)...]
    guard numbers.count == 3, rest.count >= numbers[2] else { return nil }
    self = .broken(
      index: numbers[0], Invariant.allCases[numbers[1]],
      text: String(decoding: rest.prefix(numbers[2]), as: UTF8.self))
  }
}

/// The descriptor on which a worker records the number of the program that it runs.
let noteDescriptor: Int32 = 3
