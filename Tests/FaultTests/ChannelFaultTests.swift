// Channels under faults of the machine, each in its own process: see
// Tests/Probes/FaultProbe/Channels. The operation that fails reports the error and the bytes moved
// before it; no byte is lost or moved twice.
import Glibc
import TestSupport
import Testing

@Suite("Channels when the system refuses resources", .serialized) struct ChannelFaultTests {
  @Test(arguments: ["stream", "random", "pipe", "sockets"], ["read", "write"])
  func `report a system call's error, and the bytes before it`(way: String, direction: String) {
    run("channels-refused:\(way):\(direction)")
  }

  @Test func `fail to open while no descriptor is free, and open once there is one`() {
    run("channels-descriptors")
  }

  @Test func `may not do more than the process may`() {
    // The probe could not remove the folder, so it is made here.
    let folder = ScratchFolder()
    chmod(folder.path, 0o755)
    close(folder.file("secret"))
    chmod(folder["secret"], geteuid() == 0 ? 0o600 : 0)
    close(folder.folder("closed"))
    close(folder.file("closed/file"))
    chmod(folder["closed"], geteuid() == 0 ? 0o700 : 0)
    if geteuid() != 0 { chmod(folder.path, 0o555) }
    run("channels-unprivileged", environment: ["FAULTS_FOLDER": folder.path])
    for name in [".", "closed"] { chmod(folder[name], 0o700) }
  }

  @Test func `carry every byte although signals interrupt each call`() { run("channels-signals") }
}
