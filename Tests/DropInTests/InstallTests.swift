import Glibc
import TestSupport
import Testing

@Suite("scripts/dev install") struct InstallTests {
  private func install(_ words: [String]) -> ChildResult {
    runChild([DropIn.dev, "install"] + words, seconds: DropIn.seconds)
  }

  @Test func `installs what a C program is built and run with, and removes it`() throws {
    let folder = ScratchFolder()
    let prefix = folder["prefix"]
    let installed = install(["--prefix", prefix, "libdispatch", "dev"])
    try #require(installed.status == 0, "\(installed)")
    // The first line comes before the build, the last ones say what to type.
    #expect(installed.lines.first?.hasPrefix("install: builds libdispatch.so") == true)
    #expect(installed.lines.contains("  export PKG_CONFIG_PATH=\(prefix)/lib/pkgconfig"))

    let program = folder["sum"]
    let library = "\(prefix)/lib/grandcentral"
    try DropIn.run([
      "gcc", "\(DropIn.packageFolder)/scripts/lib/package-test/sum.c", "-o", program,
      "-I\(prefix)/include/grandcentral", "-L\(library)", "-Wl,-rpath,\(library)", "-ldispatch",
    ])
    // The program finds the library by itself, and the library finds its own.
    let plain = ["env", "-u", "LD_LIBRARY_PATH"]
    #expect(try DropIn.run(plain + [program]) == "333833500\n")
    let loaded = try DropIn.run(plain + ["LD_TRACE_LOADED_OBJECTS=1", program])
    #expect(loaded.contains("=> \(library)/libdispatch.so"), "\(loaded)")
    #expect(loaded.contains("\(library)/runtime/libBlocksRuntime.so"), "\(loaded)")

    let removed = install(["--prefix", prefix, "--uninstall"])
    #expect(removed.status == 0, "\(removed)")
    #expect(try DropIn.run(["ls", "-A", prefix]) == "")
  }

  @Test func `builds nothing for a prefix that is no folder`() {
    let refused = install(["--prefix", "/dev/null/grandcentral"])
    #expect(refused.status == 1 && refused.output.isEmpty, "\(refused)")
    #expect(refused.errors.contains("cannot write below /dev/null/grandcentral"), "\(refused)")
  }
}
