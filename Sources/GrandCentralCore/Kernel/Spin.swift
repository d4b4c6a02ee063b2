// Room: Kernel/Spin. How long a thread looks before it sleeps.
// A sleep and the wake that ends it cost some 5 µs of processor time here and 20 µs of waiting, so
// looking for about as long as that costs at most twice what the better choice would have, and
// hand-overs between running threads never enter the kernel. Bounded, and only by threads that wait
// anyway: an idle process spins nowhere.
// Karlin, Li, Manasse, Owicki, "Empirical Studies of Competitive Spinning" (1991).
import CLinux

enum Spin {
  private static let alone = Atomic<Bool>(gc_affinity_count(gc_process_id()) == 1)

  /// Whether the affinity mask has one CPU only: what a thread waits for needs the CPU that it
  /// spins on. Kept up to date by Pool/Pool+Width.
  // relaxed: an old value costs a spin that finds nothing, or a sleep.
  static var isAlone: Bool {
    get { alone.load(ordering: .relaxed) }
    set { if newValue != isAlone { alone.store(newValue, ordering: .relaxed) } }
  }

  /// Looks before a sleep, a spin hint between two. None where the other side has no CPU to run on.
  static var limit: Int { times(most) }

  /// The same where there are several CPUs. For objects that are made now and waited for later.
  static var most: Int { scaled(100, inModels: 0) }

  /// `looks`, or none where the other side has no CPU to run on.
  static func times(_ looks: Int) -> Int { looks == 0 || isAlone ? 0 : looks }
}
