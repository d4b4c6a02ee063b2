// Room: Primitives/ThreadName. What the kernel keeps of a thread's name: 15 bytes, prctl(2),
// PR_SET_NAME. Two words of plain memory, since a thread that has just been woken for an item makes
// one: no string is made on the way, and nothing allocated.

/// A thread's name as the kernel takes it: at most 15 bytes of whole characters, then zeros.
public struct ThreadName: Equatable, Sendable {
  private var words: (UInt64, UInt64)

  /// The first 15 bytes of a text.
  ///
  /// - Parameter start: the text's first 16 bytes as they lie in memory; zeros behind its end.
  public init(start: (UInt64, UInt64)) {
    words = start
    withUnsafeMutableBytes(of: &words) { bytes in
      if bytes[15] == 0 { return }
      // The text is longer. A character has 4 bytes at most, of which all but the first begin with
      // the bits 10.
      var end = 15
      while end > 12 && bytes[end] & 0xc0 == 0x80 { end -= 1 }
      for place in end..<16 { bytes[place] = 0 }
    }
  }

  public init(_ text: String) {
    var text = text
    var start: (UInt64, UInt64) = (0, 0)
    text.withUTF8 { bytes in
      let first = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes.prefix(16)))
      withUnsafeMutableBytes(of: &start) { $0.copyMemory(from: first) }
    }
    self.init(start: start)
  }

  /// Calls `body` with the name and its zero.
  public func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    withUnsafeBytes(of: words) {
      // SAFETY: 16 bytes, the last of which is zero.
      body($0.assumingMemoryBound(to: CChar.self).baseAddress.unsafelyUnwrapped)
    }
  }

  public var text: String { withCString { String(cString: $0) } }

  public static func == (left: ThreadName, right: ThreadName) -> Bool { left.words == right.words }
}
