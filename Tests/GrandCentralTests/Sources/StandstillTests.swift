import Glibc
import GrandCentral
import TestSupport
import Testing

@Suite("A test that waits in vain") struct StandstillTests {
  @Test func `tells where each thread is, and what is listened to`() async throws {
    let result = try await #require(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) {
      let ends = DescriptorPair.pipe()
      let number = fcntl(ends.input, F_DUPFD_CLOEXEC, 700)
      let source = DispatchSource.makeReadSource(fileDescriptor: number)
      source.activate()
      let (isThere, never) = (Latch(), Latch())
      _ = TestThread("in vain") {
        isThere.open()
        _ = never.wait()
      }
      guard isThere.wait() else { exit(1) }
      describeStandstill()
      exit(0)
    }
    let told = String(decoding: result.standardOutputContent, as: UTF8.self)
    #expect(told.contains("in vain"), "\(told)")
    #expect(told.contains("700"), "\(told)")
  }
}
