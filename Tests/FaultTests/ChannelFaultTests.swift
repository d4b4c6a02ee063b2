// Channels under faults of the machine, each in a process of its own: see
// Tests/Probes/FaultProbe/Channels. Whatever fails is told by the operation that it fails, with
// what was moved before; nothing is lost, nothing twice.
import Glibc
import TestSupport
import Testing

@Suite("Channels under the machine's faults", .serialized) struct ChannelFaultTests {
  @Test(arguments: ["stream", "random", "pipe", "sockets"], ["read", "write"])
  func `tell the error of a system call, and what went before it`(way: String, direction: String) {
    run("channels-refused:\(way):\(direction)")
  }

  @Test func `cannot be opened without a descriptor, and can when there is one`() {
    run("channels-descriptors")
  }

  @Test func `may not do more than the process may`() {
    // The probe could not take it away again.
    let folder = ScratchFolder()
    chmod(folder.path, 0o755)
    close(folder.file("secret"))
    chmod(folder["secret"], geteuid() == 0 ? 0o600 : 0)
    close(folder.folder("closed"))
    close(folder.file("closed/file"))
    chmod(folder["closed"], geteuid() == 0 ? 0o700 : 0)
    if geteuid() != 0 { chmod(folder.path, 0o555) }
    run("channels-nobody", environment: ["FAULTS_FOLDER": folder.path])
    for name in [".", "closed"] { chmod(folder[name], 0o700) }
  }

  @Test func `carry every byte although signals interrupt each call`() { run("channels-signals") }
}
