import Foundation
import TestSupport
import Testing

/// Mistakes that the compiler must find, since nothing else could give the program what it names.
@Suite("What the compiler refuses") struct RefusalTests {
  private let lines = [
    // A named class makes what its name says, with its own attributes only.
    "let a = DispatchSerialQueue(label: \"a\", attributes: .concurrent)",
    "let b = DispatchConcurrentQueue(label: \"b\", attributes: [.concurrent])",
    "let c = DispatchWorkloop(label: \"c\", qos: .utility)",
    "let d = DispatchWorkloop(label: \"d\", target: .main)",
    // An initialiser that a program adds to DispatchQueue is not one of its subclasses.
    "let e = DispatchSerialQueue(serial: \"e\")",
    "let f = DispatchWorkloop(serial: \"f\")",
    // The engine alone makes subclasses.
    "class Mine: DispatchQueue, @unchecked Sendable {}",
    "class Serial: DispatchSerialQueue, @unchecked Sendable {}",
    // The module declares this conformance, and a program cannot replace it.
    "extension DispatchQueue: @retroactive TaskExecutor {}",
  ]

  private let accepted = [
    "extension DispatchQueue { convenience init(serial name: String) { self.init(label: name) } }",
    "let g = DispatchQueue(serial: \"g\")",
    "let h = DispatchSerialQueue(label: \"h\", qos: .utility, attributes: .initiallyInactive)",
    "let i = DispatchConcurrentQueue(label: \"i\", attributes: [], target: .global())",
    "let j = DispatchWorkloop(label: \"j\", attributes: .initiallyInactive)",
    "let k: @Sendable (String) -> DispatchQueue = { .init(label: $0, attributes: .concurrent) }",
  ]

  @Test func `is each of these mistakes, and no correct use`() throws {
    let scratch = ScratchFolder()
    let text = (["import GrandCentral"] + accepted + lines).joined(separator: "\n")
    try text.write(toFile: scratch["program.swift"], atomically: true, encoding: .utf8)
    let result = runChild(
      [
        "swiftc", "-typecheck", "-parse-as-library", "-swift-version", "6",
        scratch["program.swift"],
      ]
        + (try moduleSearchPaths()), seconds: max(600, deadlineSeconds))
    let errors = result.errors.matches(of: #/\.swift:(\d+):\d+: error: /#)
    let refused = Set(errors.compactMap { Int($0.1) })
    let first = accepted.count + 2
    #expect(refused == Set(first..<first + lines.count), "\(result.errors)")
  }
}
