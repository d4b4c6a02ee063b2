// Room: Models/Orderings. Is every memory ordering in the engine needed? Weakens each in turn, at every place
// that some model comes to, and runs all models that come there. What nobody misses is either stronger than
// it must be or is not modelled; the list says which lines these are.

enum Orderings {
  private static var mostSeconds: Double { 5 }

  private struct Place: Hashable {
    let file: String
    let line: UInt32
  }

  static func run(filter: String) -> Bool {
    var visitors: [Place: [EngineModel]] = [:]
    var orders: [Place: UInt8] = [:]
    for model in Catalogue.models where model.name.contains(filter) {
      var options = model.options
      options.isWeak = true
      options.mostSeconds = 2
      for visit in model.model.visits(options) {
        let place = Place(
          file: EngineSources.baseName(visit.site.file.description), line: visit.site.line)
        // Only the engine's own lines.
        guard EngineSources.line(place.file, place.line) != nil else { continue }
        visitors[place, default: []].append(model)
        orders[place, default: 0] |= visit.order
      }
    }
    var missed = 0
    var unmissed = 0
    for place in visitors.keys.sorted(by: { ($0.file, $0.line) < ($1.file, $1.line) }) {
      for (name, change) in weakenings(of: orders[place] ?? 0) {
        let mutation = Mutation(change, file: place.file, line: place.line)
        if let finder = visitors[place]?.first(where: { finds(mutation, $0) }) {
          missed += 1
          print("needed    \(place.file):\(place.line) \(name): \(finder.name)")
        } else {
          unmissed += 1
          let source = EngineSources.line(place.file, place.line) ?? ""
          print("UNMISSED  \(place.file):\(place.line) \(name): \(source)")
        }
      }
    }
    print("\(missed + unmissed) weakenings, \(missed) are found, \(unmissed) are not")
    return true
  }

  private static func weakenings(of order: UInt8) -> [(String, Mutation.Change)] {
    var list: [(String, Mutation.Change)] = []
    if order & 4 != 0 { list.append(("without the single order", .dropsSequential)) }
    if order & 1 != 0 { list.append(("without acquiring", .dropsAcquire)) }
    if order & 2 != 0 { list.append(("without releasing", .dropsRelease)) }
    return list
  }

  private static func finds(_ mutation: Mutation, _ model: EngineModel) -> Bool {
    for isWeak in [false, true] {
      var options = model.options
      options.isWeak = isWeak
      options.mutations = [mutation]
      options.mostSeconds = mostSeconds
      if model.model.check(options).failure != nil { return true }
    }
    return false
  }
}
