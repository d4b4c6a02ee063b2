// Purpose: the chapter of the classes: their effect on threads, on the latency of a user's requests
// beside a background scan, and on priority inversions. Each scene runs in a process of its own,
// because two engines, or two loads, in one process would influence each other.

import GrandCentral
import TourKit

struct ClassesChapter {
  let report: ChapterReport
  let root: Path

  func run() {
    guard let folder = Leavings.shared.makeFolder() else {
      return report.check(false, "a folder for what the scenes see", otherwise: "cannot make one")
    }
    defer { Leavings.shared.remove(folder) }
    showEffects()
    let player = ScenePlayer(root: root, folder: folder)
    guard let requests = playRequests(player), let inversions = playInversions(player) else {
      return
    }
    draw([
      .init("Requests at user-initiated, from the call to the answer", requests),
      .init("Urgent work behind background work, from the call until it is reached", inversions),
    ])
  }

  // MARK: What a class does

  private func showEffects() {
    for qosClass in [DispatchQoS.QoSClass.userInteractive, .userInitiated, .utility, .background] {
      for effect in qosClass.effects {
        let name = Wording.left("\(qosClass)", 17) + Wording.left("\(effect.control)", 18)
        let refusal = effect.refusal.map { "refused: \($0)" } ?? ""
        report.tell(name + Wording.left(effect.setting, 23) + refusal)
      }
    }
    report.check(
      DispatchQoS.QoSClass.default.effects.isEmpty, "default work runs as the program's threads do",
      otherwise: "\(DispatchQoS.QoSClass.default.effects)")
    let views = ThreadView.inAndAfterBackground()
    // Read the effects now: a control that the system refused to a thread is known by this time.
    let effects = DispatchQoS.QoSClass.background.effects
    let expected = ThreadView.main.with(effects)
    report.check(
      views.during == expected, "in background work, the kernel says of the thread: \(expected)",
      otherwise: "\(views.during.map { "\($0)" } ?? "nothing"), where \(expected) took effect")
    report.check(
      views.after == [.main], "in default work after it, the kernel says: \(ThreadView.main)",
      otherwise: "\(views.after)")
  }

  // MARK: Scenes

  /// Plays the scene of requests on each engine.
  /// - Returns: the rows to plot; nil if a scene did not run to its end, which has been printed.
  private func playRequests(_ player: ScenePlayer) -> [LatencyRow]? {
    var rows: [LatencyRow] = []
    var digests: Set<Int> = []
    for engine in [Engine.grandCentral, .dispatch] {
      guard let seen = play(player, .requests, on: engine) else { return nil }
      if rows.isEmpty { introduceRequests(seen) }
      digests.insert(seen["digest"])
      for kind in RequestKind.allCases {
        for (phase, place) in [("alone", "alone"), ("beside", "beside a scan")] {
          let name = "\(kind)-\(phase)"
          let title = "\(engine.title), \(kind), \(place)"
          rows.append(.init(title, seen.report.times[name] ?? []))
          report.check(
            seen[name] == kind.count && seen["\(name)-in-order"] == 1 && seen["\(name)-wrong"] == 0,
            "\(title): \(Wording.count(seen[name], "request")) answered, in order and right",
            otherwise: "\(seen.report.counts). Were files changed meanwhile?")
        }
      }
      report.check(
        seen["scanned-pieces"] > 0 && seen["scanned-changed"] == 0,
        "meanwhile the scan checksummed \(Wording.bytes(seen["scanned-bytes"])), all of it right",
        otherwise: "\(seen.report.counts). Were files changed meanwhile?")
    }
    report.check(
      digests.count == 1, "both engines read the same", otherwise: "they did not")
    // Put the rows of the two engines beside each other.
    let half = rows.count / 2
    rows = zip(rows.prefix(half), rows.suffix(half)).flatMap { [$0, $1] }
    plot(rows)
    return rows
  }

  private func introduceRequests(_ seen: ScenePlayer.Seen) {
    let long = RequestKind.long
    report.say(
      "Requests at user-initiated: short ones, every \(RequestKind.short.intervalMilliseconds) ms, "
        + "checksum up to 16 kB of a file;")
    report.say(
      "long ones, every \(long.intervalMilliseconds) ms, such pieces for "
        + "\(long.processorMilliseconds) ms. Then beside a scan at background, which checksums")
    report.say(
      "\(Wording.count(seen["pieces"], "piece")) of \(Wording.count(seen["files"], "file")) "
        + "over and over, on every CPU.")
  }

  private func playInversions(_ player: ScenePlayer) -> [LatencyRow]? {
    report.say(
      "Inversions: 20 ms of background work are queued while utility work keeps every CPU busy;")
    report.say(
      "then somebody at user-initiated needs that queue. Overrides are off by "
        + "GRANDCENTRAL_OVERRIDES=off.")
    var rows: [LatencyRow] = []
    for (engine, isResolved) in [
      (Engine.grandCentral, true), (.grandCentral, false), (.dispatch, true),
    ] {
      guard let seen = play(player, .inversions, on: engine, isResolved: isResolved) else {
        return nil
      }
      let name = engine.title + (isResolved ? "" : ", overrides off")
      let kinds = rows.isEmpty ? ["alone", "async", "sync"] : ["async", "sync"]
      for kind in kinds {
        let title = kind == "alone" ? "\(engine.title), no other work" : "\(name), \(kind)"
        rows.append(.init(title, seen.report.times[kind] ?? []))
      }
      let areRight = ["alone", "async", "sync"].allSatisfy {
        seen["\($0)-in-order"] == Scene.rounds && seen[$0] == Scene.rounds
          && seen["\($0)-changed"] == 0
      }
      report.check(
        areRight && seen["load-changed"] == 0,
        "\(name): all that was queued ran first, in order, every time",
        otherwise: "\(seen.report.counts). Were files changed meanwhile?")
      guard engine == .grandCentral else { continue }
      report.check(
        ["alone", "async", "sync"].allSatisfy { seen["\($0)-disguised"] == 0 },
        "what was helped along was background work to itself all the time",
        otherwise: "\(seen.report.counts)")
    }
    plot(rows)
    return rows
  }

  private func play(
    _ player: ScenePlayer, _ scene: Scene, on engine: Engine, isResolved: Bool = true
  ) -> ScenePlayer.Seen? {
    switch player.play(scene, on: engine, isResolved: isResolved) {
    case .success(let seen): return seen
    case .failure(let fault):
      report.check(
        false, "\(engine.title) plays its scene to the end", otherwise: fault.description)
      return nil
    }
  }

  // MARK: Drawings

  private func plot(_ rows: [LatencyRow]) {
    let columns = report.screen.isTerminal ? report.screen.columns - 4 : 100
    for line in LatencyPlot(rows, levels: report.screen.levels, columns: columns).lines {
      report.say("  " + line)
    }
  }

  private func draw(_ sections: [LatencyChart.Section]) {
    let chart = LatencyChart("Quality of service on \(Machine.processors) CPUs", sections)
    switch Drawing.keep(chart.svg) {
    case .success(let path): report.say("The same as a drawing: \(path)")
    case .failure(let fault):
      report.check(false, "a drawing at \(fault.path)", otherwise: fault.reason)
    }
  }
}
