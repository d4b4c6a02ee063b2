// Room: Lifecycle/WordSettings. Reports environment variables of the engine that take one of a few
// words and have another one. The parts that use them read them at their own first use, which may
// be under a lock or long after the start; so a wrong word would be ignored in silence, and the
// person that set it would measure the default.

enum WordSettings {
  /// The variables, and the words that each takes. GRANDCENTRAL_IO and GRANDCENTRAL_REPORTS are
  /// checked where they are read.
  static let all: [(name: String, words: [String])] = [
    ("GRANDCENTRAL_EFFECTS", ["none"]),
    ("GRANDCENTRAL_OVERRIDES", ["off"]),
    ("GRANDCENTRAL_RECORD", ["items", "sampled", "origins"]),
  ]

  /// Reports each variable that is set to another word. Called once, when the engine is made.
  static func check() {
    for (name, words) in all {
      guard let text = Process.environment(name), !words.contains(text) else { continue }
      report(
        .settingIgnored,
        "GRAND CENTRAL: \(name)='\(text)' is not \(listed(words)) and is ignored.")
    }
  }

  private static func listed(_ words: [String]) -> String {
    words.map { "'\($0)'" }.joined(separator: " or ")
  }
}
