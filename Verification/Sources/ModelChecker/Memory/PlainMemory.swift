// Room: ModelChecker/PlainMemory. Races on memory that is not a property: nodes behind raw
// pointers. Shadows are found by address, in an open-addressing table that only grows: a program
// has few such addresses and uses them often. Only one check runs at a time, and all its threads
// are fibers of one thread.

/// Reports accesses to plain memory to the race detector.
public enum PlainMemory {
  private struct Entry {
    var address: UnsafeRawPointer?
    var shadow: Unmanaged<Shadow>?
  }

  nonisolated(unsafe) private static var table = makeTable(1 << 12)
  nonisolated(unsafe) private static var mask = 1 << 12 - 1
  nonisolated(unsafe) private static var used = 0

  private static func makeTable(_ capacity: Int) -> UnsafeMutablePointer<Entry> {
    let table = UnsafeMutablePointer<Entry>.allocate(capacity: capacity)
    table.initialize(repeating: Entry(), count: capacity)
    return table
  }

  /// Records a read; fails the execution if it races.
  public static func willRead(_ address: UnsafeRawPointer, _ site: Site) {
    shadow(address)._withUnsafeGuaranteedRef { $0.read(site) }
  }

  /// Records a write; fails the execution if it races.
  public static func willWrite(_ address: UnsafeRawPointer, _ site: Site) {
    shadow(address)._withUnsafeGuaranteedRef { $0.write(site) }
  }

  private static func shadow(_ address: UnsafeRawPointer) -> Unmanaged<Shadow> {
    var place = hash(address) & mask
    while true {
      if table[place].address == address, let shadow = table[place].shadow { return shadow }
      if table[place].address == nil { break }
      place = (place + 1) & mask
    }
    if 2 * used > mask { return grow(for: address) }
    let shadow = Unmanaged.passRetained(Shadow())
    table[place] = Entry(address: address, shadow: shadow)
    used += 1
    return shadow
  }

  private static func hash(_ address: UnsafeRawPointer) -> Int {
    let bits = UInt(bitPattern: address) >> 4
    return Int(truncatingIfNeeded: (bits &* 0x9e37_79b9_7f4a_7c15) >> 32)
  }

  private static func grow(for address: UnsafeRawPointer) -> Unmanaged<Shadow> {
    let (old, capacity) = (table, mask + 1)
    table = makeTable(2 * capacity)
    mask = 2 * capacity - 1
    for index in 0..<capacity {
      guard let known = old[index].address else { continue }
      var place = hash(known) & mask
      while table[place].address != nil { place = (place + 1) & mask }
      table[place] = old[index]
    }
    old.deallocate()
    return shadow(address)
  }
}
