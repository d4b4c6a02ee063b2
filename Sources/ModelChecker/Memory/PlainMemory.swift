// Room: ModelChecker/PlainMemory. Races on memory that is no property: nodes behind raw pointers.
// Shadows are found by address, one for each granule that the program names.

public enum PlainMemory {
  nonisolated(unsafe) private static var shadows: [UnsafeRawPointer: Shadow] = [:]

  private static func shadow(_ address: UnsafeRawPointer) -> Shadow {
    if let known = shadows[address] { return known }
    let made = Shadow()
    shadows[address] = made
    return made
  }

  public static func willRead(_ address: UnsafeRawPointer, _ site: Site) {
    shadow(address).read(site)
  }

  public static func willWrite(_ address: UnsafeRawPointer, _ site: Site) {
    shadow(address).write(site)
  }
}
