// Room: IO/FileBackend. The choice between io_uring and workers for reads and writes of files.
// The first transfer that may sleep, or the first read of `fileBackend`, makes the choice.
//   a small read at an offset, in memory      the submitting thread: IOFile.readCached
//   at an offset, up to FileRing.maxBytes     the ring: one system call for many transfers, and no
//                                             thread for each transfer that waits
//   at an offset, more than that              workers: the copy takes the time, and workers copy in
//                                             parallel
//   at the file position                      workers: one piece follows the other, so there is
//                                             nothing to batch; the kernel reads ahead of a plain
//                                             read(2), and the worker uses what its CPU has cached,
//                                             without a hand-off for each piece
// Measured, 4 KiB at depth 32, the ring against workers: reads from the disk take half of the CPU
// time, on one thread instead of up to 32. With overcommitted CPUs they may arrive later, because
// one thread gets the share of one thread. Reads from memory take about as long either way: there
// the choice saves threads, not time. The same holds for writes. Some file systems cannot make them
// without waiting; the kernel hands those to threads of its own.
import CGrandCentralLinux

extension DispatchIO {
  /// The mechanism that reads and writes the files of the process.
  ///
  /// - Source: io_uring_setup(2).
  public struct FileBackend: Hashable, Sendable, CustomStringConvertible {
    /// The mechanisms.
    public enum Kind: String, Sendable {
      /// The kernel's io_uring(7), for transfers of up to 64 KiB by `.random` channels, in classes
      /// from `.default` up; workers for all others.
      case uring
      /// A bounded number of threads that call `preadv(2)` and `pwritev(2)`.
      case workers
    }

    /// The mechanism.
    public let kind: Kind
    /// The reason for the choice, in words.
    public let reason: String

    /// The mechanism and the reason, as one line of text.
    public var description: String { "\(kind.rawValue): \(reason)" }
  }

  /// The mechanism that reads and writes the files of the process, with the reason.
  ///
  /// The first access, or the first transfer, chooses: io_uring where the kernel allows it,
  /// otherwise workers. The environment variable `GRANDCENTRAL_IO` overrides this. With `workers`,
  /// io_uring is not tried. With `uring`, a refusal is reported. Any other value is reported and
  /// ignored. Small reads of bytes in memory use neither mechanism: the thread that calls `read`
  /// makes them.
  ///
  /// Any thread may read it. It changes from io_uring to workers if the process gives up the right
  /// to io_uring, by seccomp(2).
  /// - Source: io_uring_setup(2).
  public static var fileBackend: FileBackend { FileTransfers.shared.backend }
}

final class FileTransfers: @unchecked Sendable {
  static var shared: FileTransfers {
    Runtime.shared.transfers.get { FileTransfers(wanted: Process.environment("GRANDCENTRAL_IO")) }
  }

  let ring: FileRing?
  private let choice: DispatchIO.FileBackend

  private init(wanted: String?) {
    let wish = wanted.flatMap { DispatchIO.FileBackend.Kind(rawValue: $0) }
    if let wanted, wish == nil {
      report(
        .settingIgnored,
        "GRAND CENTRAL: GRANDCENTRAL_IO='\(wanted)' is neither 'uring' nor 'workers' and is ignored."
      )
    }
    if wish == .workers {
      ring = nil
      choice = .init(kind: .workers, reason: "GRANDCENTRAL_IO asks for them")
      return
    }
    switch Self.makeRing() {
    case .success(let made):
      ring = made
      choice = .init(
        kind: .uring,
        reason: wish == .uring ? "GRANDCENTRAL_IO asks for it" : "the kernel allows it")
    case .failure(let error):
      ring = nil
      choice = .init(kind: .workers, reason: "io_uring was refused (errno \(error.number))")
      if wish == .uring {
        report(
          .ringRefusedThoughAskedFor,
          """
          GRAND CENTRAL: GRANDCENTRAL_IO='uring', and the system refuses io_uring (errno \
          \(error.number); \
          io_uring_setup(2)). Files are read and written by workers. Needs Linux 5.12, a sandbox \
          that allows it, and \
          /proc/sys/kernel/io_uring_disabled to allow it.
          """)
      }
    }
  }

  private static func makeRing() -> Result<FileRing, SystemError> {
    let poller = Reactor.shared.poller
    let set = poller.prepare()
    if set < 0 { return .failure(SystemError(number: -set)) }
    let wakeDescriptor = EventFD.make()
    if wakeDescriptor < 0 { return .failure(SystemError(number: errno)) }
    switch TransferRing.make(entries: FileRing.slotCount, wakeDescriptor: wakeDescriptor) {
    case .failure(let error):
      Transfer.close(wakeDescriptor)
      return .failure(error)
    case .success(let ring):
      let made = FileRing(ring, pool: Runtime.shared.pool, workers: .shared)
      // Edge-triggered: each write to the eventfd is an edge, so no thread need read it.
      switch poller.register(made, for: wakeDescriptor, .readable, .edge) {
      case .success: return .success(made)
      case .failure(let error):
        ring.free()
        Transfer.close(wakeDescriptor)
        return .failure(error)
      }
    }
  }

  var backend: DispatchIO.FileBackend {
    if TransferRing.isInherited {
      return .init(kind: .workers, reason: "the io_uring is that of the process that was forked")
    }
    guard let error = ring?.error, error != 0 else { return choice }
    return .init(kind: .workers, reason: "io_uring is refused by now (errno \(error))")
  }

  /// Finds a thread, or the ring, for a running operation that may sleep. Any thread, with the lock
  /// of its file.
  func submit(_ operation: IOOperation) {
    if let ring, operation.suitsRing, ring.submit(operation) { return }
    FileWorkers.shared.submit(operation)
  }

  /// Withdraws an operation that must end soon. True: no worker and no ring holds it any more.
  func takeBack(_ operation: IOOperation) -> Bool {
    ring?.takeBack(operation) == true || FileWorkers.shared.takeBack(operation)
  }
}

extension IOOperation {
  /// The largest read for which the copy costs less than a hand-off.
  private static var maxBytesOfSubmitter: Int { 16384 }

  /// Whether the submitting thread makes the read itself if the bytes are in memory.
  var suitsCache: Bool {
    direction == .read && length <= Self.maxBytesOfSubmitter && suitsRing
  }

  fileprivate var suitsRing: Bool {
    guard let offset, offset >= 0, file.kind == .stored else { return false }
    // Each request has the I/O priority of its class, but the thread that enters the ring makes the
    // copy. Low classes therefore use threads of low priority.
    if band < .default { return false }
    // The kernel refuses an end beyond Int64; the ring must not see it as the file position.
    return min(length, limits.high) <= FileRing.maxBytes && offset <= Int64.max - Int64(length)
  }
}
