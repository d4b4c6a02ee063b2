// The two compilations of the workloads, side by side.

import Metrics
import WorkloadsDispatch
import WorkloadsGrandCentral

enum Engine: String, CaseIterable {
  case ours
  case peer

  /// This engine's workloads, in the order of the table.
  var workloads: [Workload] {
    switch self {
    case .ours: WorkloadsGrandCentral.allWorkloads()
    case .peer: WorkloadsDispatch.allWorkloads()
    }
  }
}

/// One workload under both engines.
struct Pairing {
  let ours: Workload
  let peer: Workload

  var name: String { ours.name }
  var rows: [Workload.Row] { ours.rows }

  func workload(of engine: Engine) -> Workload { engine == .ours ? ours : peer }

  /// All workloads, paired. The sources are the same, so the lists cannot differ, and a limit for a
  /// row that no workload has is a misspelling.
  static func all() -> [Pairing] {
    let pairings = zip(Engine.ours.workloads, Engine.peer.workloads).map {
      Pairing(ours: $0, peer: $1)
    }
    let known = Set(pairings.flatMap { $0.rows.map(\.name) })
    for row in Reach.table.keys where !known.contains(row) {
      fail("the table of limits names '\(row)', which no workload measures")
    }
    return pairings
  }

  /// Whether `text` is part of the workload's name or of one of its rows' names.
  func matches(_ text: String) -> Bool {
    text.isEmpty || ([name] + rows.map(\.name)).contains { $0.contains(text) }
  }
}

extension String {
  /// `StringProtocol.contains(_:)` of a string, without Foundation.
  fileprivate func contains(_ part: String) -> Bool {
    let whole = Array(utf8)
    let part = Array(part.utf8)
    guard part.count <= whole.count else { return false }
    return (0...whole.count - part.count).contains { whole[$0...].starts(with: part) }
  }
}
