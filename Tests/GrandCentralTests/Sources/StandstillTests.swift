import Glibc
import GrandCentral
import TestSupport
import Testing

@Suite("A test that waits until its deadline") struct StandstillTests {
  @Test func `shows where each thread is, and which descriptors are watched`() async throws {
    let result = try await #require(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) {
      let ends = DescriptorPair.pipe()
      let number = fcntl(ends.input, F_DUPFD_CLOEXEC, 700)
      let source = DispatchSource.makeReadSource(fileDescriptor: number)
      source.activate()
      let (isThere, never) = (Latch(), Latch())
      _ = TestThread("waits for ever") {
        isThere.open()
        _ = never.wait()
      }
      guard isThere.wait() else { exit(1) }
      describeStandstill()
      exit(0)
    }
    let output = String(decoding: result.standardOutputContent, as: UTF8.self)
    #expect(output.contains("waits for ever"), "\(output)")
    #expect(output.contains("700"), "\(output)")
  }
}
