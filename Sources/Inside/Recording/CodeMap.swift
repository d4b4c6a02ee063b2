// Names the code of items: from an address in the process to a function of a file, by the symbols
// of the file, and to a line of the source, by a symbolizer of the system if there is one.
// The files are read when the recording is read. Every byte of them may be wrong.
import Glibc

/// A part of a file that a process has mapped as code.
package struct CodeMap: Sendable {
  package var first: UInt64
  package var last: UInt64
  package var offset: UInt64
  package var path: String

  package init(first: UInt64, last: UInt64, offset: UInt64, path: String) {
    self.first = first
    self.last = last
    self.offset = offset
    self.path = path
  }

  /// Reads a line of /proc/PID/maps; `nil`: no code of a file.
  init?(line: Substring) {
    let parts = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
    guard parts.count == 6, parts[1].contains("x") else { return nil }
    let range = parts[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
    let path = String(parts[5].drop { $0 == " " })
    guard range.count == 2, let offset = UInt64(parts[2], radix: 16), path.hasPrefix("/") else {
      return nil
    }
    self.init(first: range[0], last: range[1], offset: offset, path: path)
  }
}

extension CodeMap {
  /// The code of a process that runs.
  package static func all(of process: Int) -> [CodeMap] {
    (readText("/proc/\(process)/maps") ?? "").split(separator: "\n").compactMap(CodeMap.init(line:))
  }
}

/// A function, as a person knows it.
package struct CodeName: Sendable {
  /// With its place in the source where that is known.
  package var text: String
  /// Whether it is the engine's own, or the system's that starts threads and programs.
  package var isOfEngine: Bool
  /// Whether the compiler made it to call another function.
  package var isThunk: Bool
}

/// Names addresses of one process.
package enum CodeNames {
  /// The functions at the addresses, with their places in the source where those are known. An
  /// address that no file explains has no name.
  package static func names(of addresses: [UInt64], in maps: [CodeMap])
    -> [UInt64: CodeName]
  {
    var inFile: [String: [(address: UInt64, offset: UInt64)]] = [:]
    for address in addresses {
      guard let map = maps.last(where: { $0.first <= address && address < $0.last }) else {
        continue
      }
      inFile[map.path, default: []].append((address, address - map.first &+ map.offset))
    }
    var names: [UInt64: CodeName] = [:]
    for (path, places) in inFile {
      let file = SymbolFile(path: path)
      let found = places.compactMap { place in
        file.address(ofOffset: place.offset).map { (place.address, $0) }
      }
      // A forwarder has no line of its own: that of the closure behind it is meant.
      let lines = SourceLines.lines(in: path, at: found.map { file.closure(behind: $0.1) })
      let base = path.split(separator: "/").last.map(String.init) ?? path
      for (index, (address, position)) in found.enumerated() {
        let symbol = file.function(at: position)
        let function = symbol.map(readable) ?? "code of \(base)"
        names[address] = CodeName(
          text: function + (lines[index].map { " (\($0))" } ?? ""),
          isOfEngine: isOfEngine(symbol ?? "", in: base), isThunk: isThunk(symbol ?? ""))
      }
    }
    return names
  }

  private static let engineModules = [
    "$s16GrandCentralCore", "$s12GrandCentral", "$s17GrandCentralBoard",
    "$s19GrandCentralExports", "$s22GrandCentralPrimitives",
  ]

  private static func isOfEngine(_ symbol: String, in file: String) -> Bool {
    if ["libdispatch.so", "libc.so", "ld-linux"].contains(where: file.hasPrefix) { return true }
    if ["dispatch_", "_dispatch_", "gc_", "_start", "__libc_"].contains(where: symbol.hasPrefix) {
      return true
    }
    guard symbol.hasPrefix("$s") else { return false }
    if isThunk(symbol) { return true }
    guard engineModules.contains(where: symbol.hasPrefix) else { return false }
    // The program's own members of the engine's types carry the name of the type.
    let text = demangle(symbol) ?? ""
    return !text.contains("(extension in ") || text.contains("(extension in GrandCentral")
  }

  /// Whether the compiler made the function between two kinds of closures.
  private static func isThunk(_ symbol: String) -> Bool {
    symbol.hasPrefix("$s") && symbol.hasSuffix("TR")
  }

  /// A symbol as the source has it, without what says nothing to a reader.
  package static func readable(_ symbol: String) -> String {
    var text = Snapshot.printable(demangle(symbol) ?? symbol)
    for prefix in ["partial apply forwarder for ", "@objc "]
    where text.hasPrefix(prefix) {
      text.removeFirst(prefix.count)
    }
    if text.hasPrefix("closure #") { text = withoutTypes(text) }
    if text.hasSuffix(" -> ()") { text.removeLast(" -> ()".count) }
    // "(parse in _171AC017307793BA002BB4244E2A49E2)": a private function.
    text = text.replacing(/\((\w+) in _[0-9A-F]{32}\)/) { String($0.1) }
    // Clang names the code of a block after its function.
    if text.hasPrefix("__"), let block = text.firstRange(of: "_block_invoke") {
      text = "block in \(text[text.index(text.startIndex, offsetBy: 2)..<block.lowerBound])"
    }
    return String(text.prefix(200))
  }

  /// "closure #1 @Sendable () -> () in main.Cache.store(_: Swift.Int) -> ()" without the types of
  /// the closures and of the result.
  private static func withoutTypes(_ text: String) -> String {
    var parts: [Substring] = []
    var rest = text[...]
    while rest.hasPrefix("closure #"), let next = rest.firstRange(of: " in ") {
      let number = rest.dropFirst("closure #".count).prefix { $0.isNumber }
      parts.append("closure #\(number) in ")
      rest = rest[next.upperBound...]
    }
    if let result = rest.ranges(of: ") -> ").last, !rest[result.upperBound...].contains(")") {
      rest = rest[..<rest.index(after: result.lowerBound)]
    } else if let result = rest.firstRange(of: ") -> ()") {
      rest = rest[..<rest.index(after: result.lowerBound)]
    }
    return parts.joined()
      + rest.replacing("Swift.", with: "").replacing("GrandCentralCore.", with: "")
  }

  private static func demangle(_ symbol: String) -> String? {
    guard symbol.hasPrefix("$s") || symbol.hasPrefix("_$s") else { return nil }
    var name = symbol
    let raw = name.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        swiftDemangle($0.baseAddress, UInt($0.count), nil, nil, 0)
      }
    }
    guard let raw else { return nil }
    defer { free(raw) }
    return String(cString: raw)
  }
}

/// A function of the Swift runtime; the caller frees the result.
@_silgen_name("swift_demangle")
private func swiftDemangle(
  _ name: UnsafePointer<CChar>?, _ length: UInt, _ buffer: UnsafeMutablePointer<CChar>?,
  _ size: UnsafeMutablePointer<UInt>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?
