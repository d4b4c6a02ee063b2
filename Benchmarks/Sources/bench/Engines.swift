// The engines and their compilations of the workloads.

import Metrics
import WorkloadsDispatch
import WorkloadsGrandCentral

#if LIBUV
  import WorkloadsLibuv
#endif

enum Engine: String, CaseIterable {
  case ours
  /// The toolchain's Dispatch.
  case peer
  case libuv

  /// The workloads of this engine, in the order of the table; empty for libuv if it is missing.
  var workloads: [Workload] {
    switch self {
    case .ours: return WorkloadsGrandCentral.allWorkloads()
    case .peer: return WorkloadsDispatch.allWorkloads()
    case .libuv:
      #if LIBUV
        return WorkloadsLibuv.allWorkloads()
      #else
        return []
      #endif
    }
  }
}

/// A workload in all engines that have it.
struct Pairing {
  /// The toolchain's workload; the toolchain has all of them.
  let peer: Workload
  private let others: [Engine: Workload]

  var name: String { peer.name }
  var rows: [Workload.Row] { peer.rows }
  var place: Workload.Place { peer.place }

  func workload(of engine: Engine) -> Workload? { engine == .peer ? peer : others[engine] }

  /// All workloads, paired by name. Checks that workloads of the same name agree, and that every
  /// row with a limit exists.
  static func all() -> [Pairing] {
    let byName = [Engine.ours, .libuv].map { engine in
      (engine, Dictionary(uniqueKeysWithValues: engine.workloads.map { ($0.name, $0) }))
    }
    let pairings = Engine.peer.workloads.map { peer in
      var others: [Engine: Workload] = [:]
      for (engine, workloads) in byName { others[engine] = workloads[peer.name] }
      return Pairing(peer: peer, others: others)
    }
    check(pairings, counts: byName.map { ($0, $1.count) })
    return pairings
  }

  private static func check(_ pairings: [Pairing], counts: [(Engine, Int)]) {
    for (engine, count) in counts {
      let paired = pairings.compactMap { $0.others[engine] == nil ? nil : $0 }
      if paired.count != count { fail("\(engine) has a workload that the toolchain's has not") }
      for pairing in paired {
        guard let other = pairing.others[engine] else { continue }
        let peer = pairing.peer
        if (other.rows, other.size, other.place) != (peer.rows, peer.size, peer.place) {
          fail("\(engine)'s '\(other.name)' is not the toolchain's")
        }
      }
    }
    let known = Set(pairings.flatMap { $0.rows.map(\.name) })
    for row in Reach.table.keys where !known.contains(row) {
      fail("the table of limits names '\(row)', which no workload measures")
    }
  }

  /// Whether `text` is part of the name of the workload or of one of its rows.
  func matches(_ text: String) -> Bool {
    text.isEmpty || ([name] + rows.map(\.name)).contains { $0.contains(text) }
  }
}

extension String {
  /// `StringProtocol.contains(_:)` for strings, without Foundation.
  fileprivate func contains(_ part: String) -> Bool {
    let whole = Array(utf8)
    let part = Array(part.utf8)
    guard part.count <= whole.count else { return false }
    return (0...whole.count - part.count).contains { whole[$0...].starts(with: part) }
  }
}
