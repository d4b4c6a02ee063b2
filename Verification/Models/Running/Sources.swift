// Room: Models/Sources. The engine's source text: for reports, and to locate mutants by text.

enum EngineSources {
  /// The lines of each file, by file name; names are unique in the engine.
  private static let files: [String: [String]] = read()

  static func line(_ file: String, _ number: UInt32) -> String? {
    guard let lines = files[baseName(file)], number > 0, Int(number) <= lines.count else {
      return nil
    }
    return lines[Int(number) - 1].trimmed
  }

  /// Returns the number of the line of `file` that contains `text`. Stops unless there is exactly
  /// one. With `after`, returns the first such line at or after the first line that contains
  /// `after`.
  static func number(in file: String, of text: String, after: String? = nil) -> UInt32 {
    guard let lines = files[file] else { fatalError("model: there is no file \(file).") }
    var start = 0
    if let after {
      guard let found = lines.firstIndex(where: { $0.contains(after) }) else {
        fatalError("model: '\(after)' is not in \(file).")
      }
      start = found
    }
    let places = lines.indices.filter { $0 >= start && lines[$0].contains(text) }
    guard let place = places.first, after != nil || places.count == 1 else {
      fatalError("model: '\(text)' is \(places.count) times in \(file); say what it comes after.")
    }
    return UInt32(place + 1)
  }

  static func baseName(_ path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  private static func read() -> [String: [String]] {
    var files: [String: [String]] = [:]
    let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    for folder in ["GrandCentralCore", "Primitives", "GrandCentral/Async"] {
      for path in swiftFiles(under: "/\(root)/Sources/\(folder)") {
        guard let text = contents(of: path) else { continue }
        files[baseName(path)] = text.split(separator: "\n", omittingEmptySubsequences: false).map(
          String.init)
      }
    }
    return files
  }

  private static func swiftFiles(under folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var found: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasPrefix(".") { continue }
      if name.hasSuffix(".swift") {
        found.append(folder + "/" + name)
      } else {
        found += swiftFiles(under: folder + "/" + name)
      }
    }
    return found
  }

  private static func contents(of path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = fread(&chunk, 1, chunk.count, file)
      if count == 0 { break }
      bytes += chunk[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension String {
  var trimmed: String {
    var rest = self[...]
    while rest.first == " " { rest.removeFirst() }
    while rest.last == " " { rest.removeLast() }
    return String(rest)
  }

  func padded(to width: Int) -> String {
    count >= width ? self : self + String(repeating: " ", count: width - count)
  }
}
