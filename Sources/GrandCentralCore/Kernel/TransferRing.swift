// Room: Kernel/TransferRing. Transfers that are given to the kernel many at a time: io_uring(7), by its system calls.
// One thread adds and enters; one at a time takes completions, which its owner sees to. Each transfer has a key, which
// comes back with its completion.
// A child that is forked shares neither memory nor descriptors of it (CLinux/Rings.c).
// Models have a kernel of their own for it: Tests/Models/Primitives/ModelTransferRing.
import CLinux

#if !GRANDCENTRAL_MODEL
  struct TransferRing: @unchecked Sendable {
    typealias Completion = gc_ring_completion
    /// The key of what nobody waits for: cancelling.
    static var noKey: UInt64 { .max }

    // SAFETY: allocated for good; the words that the kernel shares are read and written by Rings.c alone.
    private let ring: UnsafeMutablePointer<gc_ring>

    /// A ring with room for `entries`, which rings `bell`; or an errno: ENOSYS, the kernel has none or an old one; EPERM,
    /// not for this process (seccomp(2), /proc/sys/kernel/io_uring_disabled); ENOMEM, EMFILE.
    static func make(entries: Int, bell: Int32) -> Result<TransferRing, SystemError> {
      let ring = UnsafeMutablePointer<gc_ring>.allocate(capacity: 1)
      let error = gc_ring_make(ring, UInt32(entries), bell)
      if error == 0 { return .success(TransferRing(ring: ring)) }
      ring.deallocate()
      return .failure(SystemError(number: error))
    }

    func free() {
      gc_ring_free(ring)
      ring.deallocate()
    }

    /// Whether this process was forked from the one that made it.
    static var isInherited: Bool { gc_ring_is_inherited() }

    // MARK: The thread that submits

    /// Each: false, there is no room. Unset, the priority is that of the thread that enters. `buffer` is the kernel's
    /// until the completion.
    func addRead(
      _ descriptor: Int32, into buffer: UnsafeMutablePointer<UInt8>, _ bytes: Int, at offset: Int64,
      key: UInt64, priority: IOPriority = .unset
    ) -> Bool {
      gc_ring_add_read(ring, key, descriptor, buffer, UInt32(bytes), offset, priority.rawValue)
    }

    /// `stretches` are the kernel's until `enter()` returns, what they name until the completion.
    func addWrite(
      _ descriptor: Int32, _ stretches: UnsafePointer<Transfer.Stretch>, _ count: Int,
      at offset: Int64, key: UInt64, priority: IOPriority = .unset
    ) -> Bool {
      gc_ring_add_write(ring, key, descriptor, stretches, UInt32(count), offset, priority.rawValue)
    }

    /// Ends the transfer of that key if it waits. It has its completion all the same.
    func addCancel(of key: UInt64) -> Bool { gc_ring_add_cancel(ring, Self.noKey, key) }

    /// Gives the kernel what was added. What needs no waiting is complete then.
    func enter() -> RingEntered {
      while true {
        let taken = gc_ring_enter(ring)
        switch taken {
        case 0: return .all
        case 1..., -EINTR: continue
        case -EAGAIN, -EBUSY, -ENOMEM: return .someNotNow
        default: return .refused(-taken)
        }
      }
    }

    /// Takes back the last that the kernel did not take.
    func takeBack() -> UInt64? {
      var key: UInt64 = 0
      return gc_ring_take_back(ring, &key) ? key : nil
    }

    // MARK: Completions

    func next() -> Completion? {
      var completion = Completion()
      return gc_ring_next(ring, &completion) ? completion : nil
    }

    /// Whether completions ring. Whoever sets it true looks for some afterwards: those from before never rang.
    func setBell(_ rings: Bool) { gc_ring_set_bell(ring, rings) }
  }
#endif

/// What became of giving the kernel what was added.
enum RingEntered: Equatable {
  case all
  /// EAGAIN, EBUSY, ENOMEM: not now; what was not taken is still there.
  case someNotNow
  /// Not any more: seccomp(2).
  case refused(Int32)
}
