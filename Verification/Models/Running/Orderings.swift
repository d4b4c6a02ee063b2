// Room: Models/Orderings. Checks that every memory ordering in the engine is needed. It weakens
// each ordering in turn, at each line that some model reaches, and runs all models that reach the
// line, the quickest first. An ordering that no model misses is too strong, or is not modelled, or
// is kept for a reason: see KeptOrderings.

enum Orderings {
  /// The seconds that each model searches in each round, the quickest model first. All models
  /// together search for `maxSecondsInAll`: the cost of a weakening that none finds.
  private static var rounds: [Double] { [0.05, 1] }
  private static var maxSecondsInAll: Double { 20 }

  private struct Place: Hashable {
    let file: String
    let line: UInt32
  }

  private struct Visitor {
    let model: EngineModel
    let seconds: Double
  }

  /// Weakens the orderings in files that match `filter`. Returns whether all are found or kept.
  static func run(filter: String, _ part: (number: Int, of: Int)) -> Bool {
    var visitors: [Place: [Visitor]] = [:]
    var orders: [Place: UInt8] = [:]
    for model in Catalogue.models {
      var options = model.options
      options.isWeak = true
      options.maxSeconds = 2
      let start = ContinuousClock.now
      let visits = model.model.visits(options)
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      for visit in visits {
        let place = Place(
          file: EngineSources.baseName(visit.site.file.description), line: visit.site.line)
        // Skips lines that are not the engine's.
        guard place.file.contains(filter), EngineSources.line(place.file, place.line) != nil else {
          continue
        }
        visitors[place, default: []].append(Visitor(model: model, seconds: seconds))
        orders[place, default: 0] |= visit.order
      }
    }
    var (missed, kept, unmissed) = (0, 0, 0)
    let places = visitors.keys.sorted { ($0.file, $0.line) < ($1.file, $1.line) }
    for (index, place) in places.enumerated() where index % part.of == part.number {
      let visitors = visitors[place, default: []].sorted { $0.seconds < $1.seconds }
      for (name, change) in weakenings(of: orders[place] ?? 0) {
        let what = "\(place.file):\(place.line) \(name)"
        let mutation = Mutation(change, file: place.file, line: place.line)
        if let reason = KeptOrdering.reason(change, file: place.file, line: place.line) {
          kept += 1
          print("kept      \(what): \(reason)")
        } else if let finder = finder(of: mutation, among: visitors) {
          missed += 1
          print("needed    \(what): \(finder.name)")
        } else {
          unmissed += 1
          print("UNMISSED  \(what): \(EngineSources.line(place.file, place.line) ?? "")")
        }
        fflush(nil)
      }
    }
    print(
      "\(missed + kept + unmissed) weakenings: \(missed) are found, \(kept) are accounted for, "
        + "\(unmissed) are neither")
    return unmissed == 0
  }

  private static func weakenings(of order: UInt8) -> [(String, Mutation.Change)] {
    var list: [(String, Mutation.Change)] = []
    if order & 4 != 0 { list.append(("without the single order", .dropsSequential)) }
    if order & 1 != 0 { list.append(("without acquiring", .dropsAcquire)) }
    if order & 2 != 0 { list.append(("without releasing", .dropsRelease)) }
    return list
  }

  private static func finder(of mutation: Mutation, among visitors: [Visitor]) -> EngineModel? {
    let start = ContinuousClock.now
    for seconds in rounds {
      for visitor in visitors {
        var options = visitor.model.options
        options.isWeak = true
        options.mutations = [mutation]
        options.maxSeconds = seconds
        if visitor.model.model.check(options).failure != nil { return visitor.model }
        if (ContinuousClock.now - start) / .seconds(1) > maxSecondsInAll { return nil }
      }
    }
    return nil
  }
}
