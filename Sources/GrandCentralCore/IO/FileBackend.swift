// Room: IO/FileBackend. Who reads and writes files: a ring, where the kernel lets this process have one, or workers.
// Chosen once, when a file is first read or written at a place, or when somebody asks.
//   a small read at a place, in memory     the thread that asks for it: IOFile.readCached
//   at a place, up to FileRing.mostBytes   the ring: one system call for many, and no thread for each that waits
//   at a place, more than that             workers: the copy is what takes time, and they copy beside each other
//   where the descriptor stands            workers: one piece after the other, so there is nothing to gather; the kernel
//                                          reads ahead of a plain read(2), and the worker goes on with what it has in its
//                                          cache, without a hand-over for each piece
// Measured, 4 KiB at depth 32, ring beside workers: what has to come from the disk takes half of the processor's time, on
// one thread instead of up to 32; where CPUs are overcommitted it may come later, as one thread has one thread's share of
// them. What is in memory takes about as long by either: there the choice is of threads, not of speed. The same with
// writes, which some file systems let no ring make without waiting: those the kernel hands to threads of its own.
import CLinux

extension DispatchIO {
  /// Who reads and writes the files of this process.
  public struct FileBackend: Hashable, Sendable, CustomStringConvertible {
    public enum Kind: String, Sendable {
      /// The kernel's io_uring(7), for reads and writes of up to 64 KiB by `.random` channels; workers for all else.
      case uring
      /// A bounded number of threads, with `preadv(2)` and `pwritev(2)`.
      case workers
    }

    public let kind: Kind
    /// Why, in words.
    public let reason: String

    public var description: String { "\(kind.rawValue): \(reason)" }
  }

  /// Who reads and writes the files of this process, and why. Chosen once, by this or by the first transfer: io_uring
  /// where the kernel allows it, otherwise workers. The environment variable `GRANDCENTRAL_IO` chooses too: `uring`
  /// reports when that cannot be had, and `workers` does not ask for it; any other value is reported and ignored.
  /// Small reads of bytes that are in memory take part in neither: the thread that calls `read`
  /// makes them.
  ///
  /// Any thread. The answer changes from io_uring to workers if the process gives up the right to it, by seccomp(2).
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
          GRAND CENTRAL: GRANDCENTRAL_IO='uring', and the system refuses io_uring (errno \(error.number); \
          io_uring_setup(2)). Files are read and written by workers. Needs Linux 5.12, a sandbox that allows it, and \
          /proc/sys/kernel/io_uring_disabled to allow it.
          """)
      }
    }
  }

  private static func makeRing() -> Result<FileRing, SystemError> {
    let poller = Events.shared.poller
    let set = poller.prepare()
    if set < 0 { return .failure(SystemError(number: -set)) }
    let bell = Doorbell.make()
    if bell < 0 { return .failure(SystemError(number: errno)) }
    switch TransferRing.make(entries: FileRing.slotCount, bell: bell) {
    case .failure(let error):
      Transfer.close(bell)
      return .failure(error)
    case .success(let ring):
      let made = FileRing(ring, pool: Runtime.shared.pool, workers: .shared)
      // By edges: each ring of the bell is one, so nobody need read it.
      switch poller.register(made, for: bell, .readable, .edge) {
      case .success: return .success(made)
      case .failure(let error):
        ring.free()
        Transfer.close(bell)
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

  /// A running operation of a file, or at a place, has no thread. Any thread, with the lock of its file.
  func submit(_ operation: IOOperation) {
    if let ring, operation.suitsRing, ring.submit(operation) { return }
    FileWorkers.shared.submit(operation)
  }

  /// Such a one is to end soon. True: nobody has it any more.
  func takeBack(_ operation: IOOperation) -> Bool {
    ring?.takeBack(operation) == true || FileWorkers.shared.takeBack(operation)
  }
}

extension IOOperation {
  /// Up to here the copy costs less than to hand the operation over.
  private static var mostBytesOfSubmitter: Int { 16384 }

  /// Whether the submitting thread makes it itself if the bytes are in memory.
  var suitsCache: Bool {
    direction == .read && length <= Self.mostBytesOfSubmitter && suitsRing
  }

  fileprivate var suitsRing: Bool {
    guard let offset, offset >= 0, file.kind == .stored else { return false }
    // Each request has its class's place at the disk, but the copy is done by the thread that enters the ring. What is to
    // stand back is moved by threads that stand back.
    if band < .default { return false }
    // What is too large for a place is the kernel's to refuse, not to be taken for none.
    return min(length, limits.high) <= FileRing.mostBytes && offset <= Int64.max - Int64(length)
  }
}
