import CFaults
import Glibc
import GrandCentral
import TestSupport

private let errors = [
  "EPERM": EPERM, "ENOSYS": ENOSYS, "ENOMEM": ENOMEM, "EAGAIN": EAGAIN, "EBUSY": EBUSY,
]

/// Reads and writes files while the ring is refused or disturbed.
func transfers(_ words: [String]) {
  let file = TransferFile()
  let error = errors[words.dropFirst().first ?? ""] ?? 0
  switch words.first {
  case "setup", "register", "wake":
    let calls = [
      "setup": FAULTS_IO_URING_SETUP, "register": FAULTS_IO_URING_REGISTER,
      "wake": FAULTS_EVENTFD2,
    ]
    refuse(calls[words[0]] ?? FAULTS_IO_URING_SETUP, error)
    check(file.works(), "files are read and written")
    check(
      "\(DispatchIO.fileBackend)" == "workers: io_uring was refused (errno \(error))",
      "by workers, and it says why: \(DispatchIO.fileBackend)")
  case "enter":
    requireRing()
    check(file.works(), "files are read and written")
    refuse(FAULTS_IO_URING_ENTER, error)
    for _ in 0..<3 { check(file.works(), "files are still read and written") }
    let isRefused = DispatchIO.fileBackend.kind == .workers
    check(isRefused == (error == EPERM), "what it says: \(DispatchIO.fileBackend)")
  case "descriptors":
    check(faults_limit(FAULTS_DESCRIPTORS, 0) == 0, "the limit holds")
    check(file.works(), "files are read and written")
    check(DispatchIO.fileBackend.kind == .workers, "by workers: \(DispatchIO.fileBackend)")
  case "signals":
    check(faults_count_signal(SIGALRM) == 0 && faults_set_alarm(500) == 0, "signals come")
    for _ in 0..<20 { check(file.works(), "files are read and written") }
    check(faults_set_alarm(0) == 0, "and end")
  case "forked":
    requireRing()
    check(file.works(), "files are read and written")
    check(hasRing(), "by a ring")
    let status = faults_in_child {
      // The child has no thread, so check only what needs none.
      !hasRing() && DispatchIO.fileBackend.kind == .workers
    }
    check(status == 0, "a child does not share it")
    check(hasRing() && file.works(), "the parent continues")
  default:
    check(file.works(), "files are read and written")
  }
}

private func refuse(_ call: faults_call, _ error: Int32) {
  if faults_refuse([call], 1, error) != 0 { skip("seccomp(2) is not available") }
}

private func requireRing() {
  let backend = DispatchIO.fileBackend
  if backend.kind != .uring { skip("no ring: \(backend)") }
}

/// Whether a descriptor of the process is an io_uring.
private func hasRing() -> Bool {
  (0..<64).contains { descriptor in
    var target = [UInt8](repeating: 0, count: 64)
    let count = target.withUnsafeMutableBytes {
      readlink("/proc/self/fd/\(descriptor)", $0.baseAddress!, $0.count)
    }
    return count > 0
      && String(decoding: target.prefix(count), as: UTF8.self) == "anon_inode:[io_uring]"
  }
}

/// A file that is written and read at many offsets at the same time.
private final class TransferFile {
  private let folder = ScratchFolder()
  private let descriptor: Int32
  private var seed: UInt8 = 0

  init() { descriptor = folder.file("transfers") }

  func works() -> Bool {
    seed &+= 1
    let queue = DispatchQueue(label: "transfers")
    let done = Latch(200)
    let (wrong, ended) = (Counter(), Latch())
    let io = DispatchIO(type: .random, fileDescriptor: descriptor, queue: queue) { _ in ended.open()
    }
    let value = seed
    for place in 0..<100 {
      let data = [UInt8](repeating: value &+ UInt8(place), count: 3000).withUnsafeBytes {
        DispatchData(bytes: $0)
      }
      io.write(offset: off_t(place * 3000), data: data, queue: queue) { isDone, _, error in
        if error != 0 { wrong.add() }
        if isDone { done.open() }
      }
    }
    io.barrier {}
    for place in 0..<100 {
      io.read(offset: off_t(place * 3000), length: 3000, queue: queue) { isDone, data, error in
        let expected = [UInt8](repeating: value &+ UInt8(place), count: 3000)
        if error != 0 || (isDone && Array(data ?? .empty) != expected) { wrong.add() }
        if isDone { done.open() }
      }
    }
    let areDone = done.wait()
    io.close()
    return areDone && ended.wait() && wrong.value == 0
  }
}
