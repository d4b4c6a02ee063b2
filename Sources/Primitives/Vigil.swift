// Room: Primitives/Vigil. What threads that sleep anyway do while an engine may not make one of its own.
// Without a thread an engine can neither run what is queued nor come back to it later: the kernel calls a
// process through a thread or through a signal, and signals belong to the program. But whoever waits for
// the work is a thread. So while a vigil is kept every sleep on a word ends after a period, the sleeper
// tries again what could not be done, and goes back to its word as after any wake-up for nothing.
// While none is kept this costs a sleep one load. A thread that fell asleep before a vigil began takes no
// part: its futex call is under way, and nothing but its own word can end it.

/// Somebody for whom sleeping threads keep watch. Must not be released while a vigil is kept for it.
public protocol Vigilant: AnyObject, Sendable {
  /// Tries again. Any thread that sleeps on a word, holding no lock of the engine's. Must not sleep.
  func attend()
}

public enum Vigil {
  /// How long a thread sleeps at a time.
  static var periodNanoseconds: UInt64 { 10_000_000 }
  static let keepers = Keepers()

  /// Begins a vigil, if none is kept for `keeper`.
  public static func begin(_ keeper: any Vigilant) {
    keepers.change { if !$0.contains(where: { $0 === keeper }) { $0.append(keeper) } }
  }

  public static func end(_ keeper: any Vigilant) {
    if isKept { keepers.change { $0.removeAll { $0 === keeper } } }
  }

  /// In a child that was forked, whose engine has nothing to wait for.
  public static func endAll() { keepers.change { $0 = [] } }

  /// Whether any vigil is kept.
  public static var isKept: Bool {
    // relaxed: a hint on the way into the kernel; what attend() reads comes with the lock.
    keepers.count.load(ordering: .relaxed) != 0
  }

  static func attend() {
    for keeper in keepers.current { keeper.attend() }
  }
}

/// Guarded by its lock, but for the count.
final class Keepers: @unchecked Sendable {
  let count = Atomic<Int>(0)
  private let lock = Lock()
  @Cell private var list: [any Vigilant] = []

  func change(_ body: (inout [any Vigilant]) -> Void) {
    lock.withLock {
      body(&list)
      count.store(list.count, ordering: .relaxed)
    }
  }

  var current: [any Vigilant] { lock.withLock { list } }
}
