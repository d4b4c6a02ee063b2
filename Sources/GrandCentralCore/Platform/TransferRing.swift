// Room: Platform/TransferRing. Passes many transfers to the kernel at once, by io_uring(7).
// One thread adds and enters; the owner lets one thread at a time take completions. Each transfer
// has a key, which its completion returns.
// A forked child shares neither memory nor descriptors of a ring (CLinux/Rings.c).
// Models use their own kernel: Verification/Models/Primitives/ModelTransferRing.
import CGrandCentralLinux

#if !GRANDCENTRAL_MODEL
  struct TransferRing: @unchecked Sendable {
    typealias Completion = gc_uring_completion
    /// The key of a cancellation, whose completion is ignored.
    static var noKey: UInt64 { .max }

    // SAFETY: allocated until free(); only Rings.c accesses the words that the kernel shares.
    private let ring: UnsafeMutablePointer<gc_uring>

    /// Makes a ring for `entries` transfers that signals the descriptor `wakeDescriptor`. Fails
    /// with an errno: ENOSYS, no or an old io_uring; EPERM, forbidden for this process (seccomp(2),
    /// /proc/sys/kernel/io_uring_disabled); ENOMEM, EMFILE.
    static func make(entries: Int, wakeDescriptor: Int32) -> Result<TransferRing, SystemError> {
      let ring = UnsafeMutablePointer<gc_uring>.allocate(capacity: 1)
      let error = gc_uring_make(ring, UInt32(entries), wakeDescriptor)
      if error == 0 { return .success(TransferRing(ring: ring)) }
      ring.deallocate()
      return .failure(SystemError(number: error))
    }

    func free() {
      gc_uring_free(ring)
      ring.deallocate()
    }

    /// Forgets the ring's descriptors, which the program has closed. Later transfers are refused;
    /// completions of earlier ones still come, without a signal. Any thread.
    func lose() { gc_uring_lose(ring) }

    /// Whether this process was forked from the one that made the ring.
    static var isInherited: Bool { gc_uring_is_inherited() }

    // MARK: The thread that submits

    /// Adds a read; false if there is no room. An unset priority is that of the thread that enters.
    /// The kernel owns `buffer` until the completion.
    func addRead(
      _ descriptor: Int32, into buffer: UnsafeMutablePointer<UInt8>, _ bytes: Int, at offset: Int64,
      key: UInt64, priority: IOPriority = .unset
    ) -> Bool {
      gc_uring_add_read(ring, key, descriptor, buffer, UInt32(bytes), offset, priority.rawValue)
    }

    /// Adds a write; false if there is no room. The kernel owns `stretches` until `enter()`
    /// returns, and the memory that they name until the completion.
    func addWrite(
      _ descriptor: Int32, _ stretches: UnsafePointer<Transfer.Stretch>, _ count: Int,
      at offset: Int64, key: UInt64, priority: IOPriority = .unset
    ) -> Bool {
      gc_uring_add_write(ring, key, descriptor, stretches, UInt32(count), offset, priority.rawValue)
    }

    /// Adds a cancellation of a waiting transfer, which completes all the same; false if no room.
    func addCancel(of key: UInt64) -> Bool { gc_uring_add_cancel(ring, Self.noKey, key) }

    /// Passes the added transfers to the kernel. Those that need no waiting are complete on return.
    func enter() -> RingEntered {
      while true {
        let taken = gc_uring_enter(ring)
        switch taken {
        case 0: return .all
        case 1..., -EINTR: continue
        case -EAGAIN, -EBUSY, -ENOMEM: return .someNotNow
        default: return .refused(-taken)
        }
      }
    }

    /// Takes back the last transfer that the kernel did not accept, and returns its key.
    func takeBack() -> UInt64? {
      var key: UInt64 = 0
      return gc_uring_take_back(ring, &key) ? key : nil
    }

    // MARK: Completions

    func next() -> Completion? {
      var completion = Completion()
      return gc_uring_next(ring, &completion) ? completion : nil
    }

    /// Sets whether completions signal the descriptor. After setting it the caller checks for
    /// completions: earlier ones did not signal.
    func enableWakeDescriptor(_ enables: Bool) { gc_uring_set_eventfd(ring, enables) }
  }
#endif

/// The outcome of passing transfers to the kernel.
enum RingEntered: Equatable {
  case all
  /// EAGAIN, EBUSY, ENOMEM: try later; the transfers that were not accepted are still in the ring.
  case someNotNow
  /// Never again: seccomp(2). An errno.
  case refused(Int32)
}
