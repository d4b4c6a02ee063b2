// Room: Kernel/Spin. How long a thread looks before it sleeps.
// A sleep and the wake that ends it cost some 5 µs of processor time here and 20 µs of waiting, so
// looking for about as long as that costs at most twice what the better choice would have, and
// hand-overs between running threads never enter the kernel. Bounded, and only by threads that wait
// anyway: an idle process spins nowhere.
// Karlin, Li, Manasse, Owicki, "Empirical Studies of Competitive Spinning" (1991).
import CLinux

enum Spin {
  /// Looks before a sleep, a spin hint between two. None where the other side has no CPU to run on.
  static let limit: Int = gc_affinity_count(gc_process_id()) == 1 ? 0 : scaled(100, inModels: 0)
}
