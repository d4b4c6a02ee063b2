// Room: Platform/Spin. How long a thread spins before it sleeps.
// A sleep and the wake that ends it cost about 5 µs of CPU time here and 20 µs of waiting. So
// spinning for about that long costs at most twice as much as the better choice would have, and
// hand-offs between running threads never enter the kernel. The spin is bounded, and only waiting
// threads spin: no thread of an idle process does.
// Karlin, Li, Manasse, Owicki, "Empirical Studies of Competitive Spinning" (1991).
import CGrandCentralLinux

enum Spin {
  private static let alone = Atomic<Bool>(gc_affinity_count(gc_process_id()) == 1)

  /// Whether the affinity mask has only one CPU, which the other side of a wait needs too. Kept
  /// current by Pool/Pool+Width.
  // relaxed: a stale value costs a useless spin or a sleep.
  static var isAlone: Bool {
    get { alone.load(ordering: .relaxed) }
    set { if newValue != isAlone { alone.store(newValue, ordering: .relaxed) } }
  }

  /// The looks before a sleep, with a spin hint between two. 0 if the other side has no CPU.
  static var limit: Int { times(maxLooks) }

  /// The same if there are several CPUs. For objects that are made now and waited for later.
  static var maxLooks: Int { scaled(100, inModels: 0) }

  /// `looks`, or 0 if the other side has no CPU to run on.
  static func times(_ looks: Int) -> Int { looks == 0 || isAlone ? 0 : looks }
}
