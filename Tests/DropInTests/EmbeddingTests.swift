import TestSupport
import Testing

/// A package that depends on the engine. The script builds and runs it and checks its output. The
/// nightly run also builds it for release and with the toolchain's libraries linked statically.
@Suite("A program that embeds the engine") struct EmbeddingTests {
  @Test func `runs on it as a whole`() throws {
    let said = try DropIn.run([DropIn.dev, "embedding", "debug", "dynamic"])
    for line in ["in charge: true", "operations: 100", "tasks: 100", "main actor: true"] {
      #expect(said.contains("  \(line)\n"), "\(said)")
    }
    #expect(said.contains("defines every symbol"), "\(said)")
    #expect(said.contains("jobs of Concurrency as jobs"), "\(said)")
  }

  @Test func `runs on it as a whole when linked statically`() throws {
    let said = try DropIn.run([DropIn.dev, "embedding", "debug", "static"])
    #expect(said.contains("  tasks: 100\n"), "\(said)")
    #expect(said.contains("jobs of Concurrency as jobs"), "\(said)")
  }
}
