// Purpose: a path as bytes. Linux names need not be UTF-8 and a String would lose some of them, so
// this type keeps every byte and decodes only for display.
// Invariant: `storage` ends with one NUL and has no other.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

public struct Path: Hashable, Sendable {
  private let storage: [UInt8]

  private init(storage: [UInt8]) {
    self.storage = storage
  }

  /// The path of `bytes`, up to the first NUL.
  public init(bytes: some Sequence<UInt8>) {
    storage = Array(bytes.prefix { $0 != 0 }) + [0]
  }

  public init(_ text: String) {
    self.init(bytes: text.utf8)
  }

  /// A copy of a C string.
  public init(cString: UnsafePointer<CChar>) {
    let count = strlen(cString)
    self.init(bytes: UnsafeRawBufferPointer(start: cString, count: count))
  }

  /// The bytes, without the NUL.
  public var bytes: ArraySlice<UInt8> { storage.dropLast() }

  /// The path of the entry `name` of this folder. `name` is NUL-terminated and has `count` bytes.
  public func appending(name: UnsafePointer<UInt8>, count: Int) -> Path {
    let needsSlash = storage.count > 1 && storage[storage.count - 2] != UInt8(ascii: "/")
    var joined: [UInt8] = []
    joined.reserveCapacity(storage.count + count + 1)
    joined.append(contentsOf: storage.dropLast())
    if needsSlash { joined.append(UInt8(ascii: "/")) }
    joined.append(contentsOf: UnsafeBufferPointer(start: name, count: count))
    joined.append(0)
    return Path(storage: joined)
  }

  public func appending(_ name: String) -> Path {
    var text = name
    return text.withUTF8 { utf8 in
      guard let start = utf8.baseAddress, !utf8.isEmpty else { return self }
      return appending(name: start, count: utf8.count)
    }
  }

  /// This path with its prefix `old` replaced by `new`.
  public func moved(from old: Path, to new: Path) -> Path {
    let rest = bytes.dropFirst(old.bytes.count).drop { $0 == UInt8(ascii: "/") }
    if rest.isEmpty { return new }
    return rest.withUnsafeBufferPointer { new.appending(name: $0.baseAddress!, count: $0.count) }
  }

  /// The folder that holds this path: `.` for a name without a slash, the root for the root.
  public var parent: Path {
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return Path(".") }
    return Path(bytes: bytes[..<max(1, slash)])
  }

  /// Calls `body` with the path as a C string, without copying it.
  public func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    storage.withUnsafeBytes { bytes in
      // SAFETY: `storage` is never empty and ends with a NUL.
      body(bytes.baseAddress!.assumingMemoryBound(to: CChar.self))
    }
  }

  /// The extension of the file's name in lower case, without its dot; empty if there is none.
  public var fileExtension: String {
    let name = bytes[(bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)...]
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return "" }
    return String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
  }
}

extension Path: Comparable {
  public static func < (left: Path, right: Path) -> Bool {
    left.storage.lexicographicallyPrecedes(right.storage)
  }
}

extension Path: CustomStringConvertible {
  public var description: String { String(decoding: bytes, as: UTF8.self) }
}
