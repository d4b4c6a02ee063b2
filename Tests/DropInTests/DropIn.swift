// The drop-in library of these sources, and programs built without it. All run in child processes:
// a test process that loaded it would run its own test library on it.
import Foundation
import TestSupport

/// A failed build, with the tool's output.
struct BuildFailure: Error, CustomStringConvertible {
  let description: String
}

enum DropIn {
  /// The limit on a build, in seconds. Beside other builds one takes a minute or more.
  static let seconds = max(900, deadlineSeconds)

  static let packageFolder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

  /// The program that builds and checks.
  static let dev = "\(packageFolder)/scripts/dev"

  private static let built = Result { () throws -> String in
    let folder = "\(packageFolder)/.build-dropin/release"
    _ = try run([dev, "dropin", "release", folder])
    return folder
  }

  /// Returns the folder with libdispatch.so, which is built if its sources are newer.
  static func folder() throws -> String { try built.get() }

  /// Returns the folder with the toolchain's libraries.
  static func toolchainLibraries() throws -> String {
    let path = try run(["sh", "-c", "readlink -f \"$(command -v swiftc)\""])
    let tools = URL(fileURLWithPath: path.trimmingCharacters(in: .whitespacesAndNewlines))
      .deletingLastPathComponent().deletingLastPathComponent().path
    return "\(tools)/lib/swift/linux"
  }

  /// Whether the toolchain has the archives with which the library needs no library of Swift's.
  static let isSelfContained =
    (try? toolchainLibraries()).map {
      let lib = URL(fileURLWithPath: $0).deletingLastPathComponent().deletingLastPathComponent()
      let archive = lib.appendingPathComponent("swift_static/linux/libswiftCore.a")
      return FileManager.default.fileExists(atPath: archive.path)
    } ?? false

  /// Returns the compiler flags for the toolchain's headers.
  static func cFlags(_ compiler: String) throws -> [String] {
    let libraries = try toolchainLibraries()
    let headers = URL(fileURLWithPath: libraries).deletingLastPathComponent().path
    let isGCC = compiler == "gcc"
    return (isGCC ? ["-D__has_feature(x)=0", "-D__has_extension(x)=0"] : ["-fblocks"])
      + ["-isystem", headers, "-isystem", "\(headers)/Block"]
  }

  /// Runs a tool to its end. Throws its output if it failed.
  @discardableResult
  static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> String {
    let result = runChild(arguments, environment: environment, seconds: seconds)
    guard result.status == 0 else {
      throw BuildFailure(
        description:
          "\(arguments.joined(separator: " ")): \(result.status ?? -1)\n\(result.output)\n\(result.errors)"
      )
    }
    return result.output
  }
}

/// A program of this folder, compiled against the toolchain's headers and modules.
struct Client {
  let path: String
  private let scratch: ScratchFolder

  static func source(_ name: String) -> String {
    "\(DropIn.packageFolder)/Tests/DropInTests/Clients/\(name)"
  }

  init(swift name: String, flags: [String] = []) throws {
    scratch = ScratchFolder()
    path = scratch["client"]
    try DropIn.run(["swiftc"] + flags + [Self.source(name), "-o", path])
  }

  init(c name: String, compiler: String, flags: [String] = []) throws {
    scratch = ScratchFolder()
    path = scratch["client"]
    let libraries = try DropIn.toolchainLibraries()
    try DropIn.run(
      [compiler] + DropIn.cFlags(compiler) + flags + [Self.source(name), "-o", path]
        + ["-L\(libraries)", "-ldispatch", "-lBlocksRuntime", "-Wl,-rpath,\(libraries)"])
  }

  /// Runs the program on the drop-in library.
  func runOnOurs(
    _ arguments: [String] = [], environment: [String: String] = [:]
  ) throws -> ChildResult {
    let folder = try DropIn.folder()
    return runChild(
      [path] + arguments,
      environment: environment.merging(["LD_LIBRARY_PATH": folder]) { _, ours in ours },
      seconds: DropIn.seconds)
  }

  /// Runs the program on the toolchain's library.
  func runOnPeers(_ arguments: [String] = []) -> ChildResult {
    runChild([path] + arguments, seconds: DropIn.seconds)
  }

  /// Returns the libraries that the loader finds with the drop-in library's folder before all
  /// others.
  func loadedLibraries() throws -> [Substring] {
    let listed = runChild(
      [path],
      environment: ["LD_LIBRARY_PATH": try DropIn.folder(), "LD_TRACE_LOADED_OBJECTS": "1"])
    return listed.output.split(separator: "\n").filter { $0.contains("libdispatch.so") }
  }
}
