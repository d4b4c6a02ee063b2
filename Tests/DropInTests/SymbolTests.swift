// The symbols of the drop-in: contract row X5.
import Foundation
import TestSupport
import Testing

/// Compares the library's exports with the list of the toolchain's.
@Suite("The drop-in library's symbols") struct SymbolTests {
  private struct Symbol: Equatable {
    let isData: Bool
    let bytes: Int
  }

  /// Returns the defined dynamic symbols by name, from readelf(1).
  private func symbols(of path: String) throws -> [String: Symbol] {
    var found: [String: Symbol] = [:]
    for line in try DropIn.run(["readelf", "--wide", "--dyn-syms", path]).split(separator: "\n") {
      let fields = line.split(separator: " ").map(String.init)
      // Num: Value Size Type Bind Vis Ndx Name
      guard fields.count == 8, fields[6] != "UND", fields[4] != "LOCAL", let bytes = Int(fields[2])
      else { continue }
      guard fields[3] == "FUNC" || fields[3] == "OBJECT" else { continue }
      found[fields[7]] = Symbol(isData: fields[3] == "OBJECT", bytes: bytes)
    }
    return found
  }

  private struct Listed {
    let name: String
    let isData: Bool
  }

  /// The symbols that other programs can link to, without inline functions and the hidden
  /// thread-local.
  private func listed() throws -> [Listed] {
    let path = "\(DropIn.packageFolder)/Tests/ParityTests/Lists/c-dispatch-linux.tsv"
    return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").compactMap {
      let fields = $0.split(separator: "\t")
      guard !$0.hasPrefix("#"), fields.count >= 3, fields[2] != "inline" else { return nil }
      return fields[0] == "__dispatch_tsd"
        ? nil : Listed(name: String(fields[0]), isData: fields[2] == "data")
    }
  }

  @Test func `are all that the toolchain's has, of the same kinds`() throws {
    let ours = try symbols(of: "\(DropIn.folder())/libdispatch.so")
    let wanted = try listed()
    #expect(wanted.count > 180)
    for symbol in wanted {
      let found = ours[symbol.name]
      #expect(found?.isData == symbol.isData, "\(symbol.name): \(String(describing: found))")
    }
  }

  @Test func `have the sizes that programs were linked with`() throws {
    let ours = try symbols(of: "\(DropIn.folder())/libdispatch.so")
    let peers = try symbols(of: "\(DropIn.toolchainLibraries())/libdispatch.so")
    let data = peers.filter { $0.value.isData }
    #expect(data.count >= 25)
    for (name, symbol) in data { #expect(ours[name]?.bytes == symbol.bytes, "\(name)") }
  }

  @Test func `are the interface and nothing else`() throws {
    let extra = Set(try symbols(of: "\(DropIn.folder())/libdispatch.so").keys)
      .subtracting(try listed().map(\.name))
    let own = extra.filter { $0.hasPrefix("grandcentral_") }
    #expect(try own == declaredOwn())
    #expect(own.count > 20)
    // These stand before the C library's: Sources/CLinux/Children.c.
    let children: Set = [
      "posix_spawn", "posix_spawnp", "system", "popen", "execve", "execvpe", "fexecve",
      "execveat", "execv", "execvp", "execl", "execlp", "execle",
    ]
    let more: Set = [
      "dispatch_async_swift_job", "_dispatch_source_type_memorypressure",
      "_dispatch_source_type_proc", "_dispatch_source_type_vnode",
    ]
    #expect(extra.subtracting(own) == children.union(more))
  }

  /// The functions that <dispatch/grandcentral.h> declares.
  private func declaredOwn() throws -> Set<String> {
    let path = "\(DropIn.packageFolder)/Sources/CDispatch/include/dispatch/grandcentral.h"
    let text = try String(contentsOfFile: path, encoding: .utf8)
      .split(separator: "\n").filter { !$0.hasPrefix("//") }.joined(separator: "\n")
    return Set(
      text.matches(of: #/ \*?(grandcentral_\w+)\((?!\*)/#).map { String($0.1) })
  }

  @Test func `need no library that needs this one`() throws {
    let said = try DropIn.run(["readelf", "-d", "\(DropIn.folder())/libdispatch.so"])
    #expect(said.contains("Library soname: [libdispatch.so]"))
    let needed = said.split(separator: "\n").filter { $0.contains("(NEEDED)") }
    #expect(!needed.isEmpty)
    let others =
      DropIn.isSelfContained
      ? ["libswift", "libstdc++"]
      : ["libswift_Concurrency", "libswift_StringProcessing", "libFoundation"]
    for library in others { #expect(!needed.contains { $0.contains(library) }, "\(library)") }
  }

  /// A program's runtime may be of another version than the library's own.
  @Test(.enabled(if: DropIn.isSelfContained))
  func `ask the program for no part of Swift that may be missing`() throws {
    let path = "\(try DropIn.folder())/libdispatch.so"
    var isWeak: [String: Bool] = [:]
    for line in try DropIn.run(["readelf", "--wide", "--dyn-syms", path]).split(separator: "\n") {
      let fields = line.split(separator: " ").map(String.init)
      guard fields.count >= 8, fields[6] == "UND" else { continue }
      isWeak[fields[7]] = fields[4] == "WEAK"
    }
    // The version differs between architectures.
    let malloc = isWeak.first { $0.key == "malloc" || $0.key.hasPrefix("malloc@") }
    #expect(malloc?.value == false)
    for (name, isWeak) in isWeak where name.contains("swift") || name.hasPrefix("$s") {
      #expect(isWeak, "\(name)")
    }
  }
}
