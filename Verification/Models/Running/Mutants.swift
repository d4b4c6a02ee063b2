// Room: Models/Mutants. Checks that the model of each mutant finds it within 20 s.

enum Mutants {
  static func run(filter: String, _ part: (number: Int, of: Int)) -> Bool {
    if part.number == 0 { KeptOrdering.checkPlaces() }
    var survivors = 0
    var slowest = 0.0
    let chosen = Catalogue.mutants.filter { $0.name.contains(filter) || $0.model.contains(filter) }
    var count = 0
    for (index, mutant) in chosen.enumerated() where index % part.of == part.number {
      count += 1
      guard let model = Catalogue.models.first(where: { $0.name == mutant.model }) else {
        print("\(mutant.name): there is no model '\(mutant.model)'")
        survivors += 1
        continue
      }
      let outcome = model.check(mutant)
      slowest = max(slowest, outcome.seconds)
      if let failure = outcome.failure {
        let first = failure.message.split(separator: "\n").first.map(String.init) ?? ""
        print(
          "killed    \(mutant.name.padded(to: 56)) \(Report.grouped(outcome.executions)) executions, "
            + "\(Report.milliseconds(outcome.seconds)): \(first)")
      } else {
        survivors += 1
        print(
          "SURVIVED  \(mutant.name.padded(to: 56)) \(Report.grouped(outcome.executions)) executions, "
            + Report.milliseconds(outcome.seconds))
      }
    }
    print(
      "\(count) of \(chosen.count) mutants, \(survivors) survived, "
        + "slowest \(Report.milliseconds(slowest))")
    return survivors == 0
  }
}

extension EngineModel {
  fileprivate func check(_ mutant: Mutant) -> Outcome {
    var options = options
    options.isWeak = mutant.isWeak
    options.mutations = [mutant.mutation]
    options.maxSeconds = 20
    return model.check(options)
  }
}
