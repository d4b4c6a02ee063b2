// Room: Primitives/ThreadName. The name that the kernel keeps for a thread: 15 bytes, prctl(2),
// PR_SET_NAME.
// The name is two plain words, so that a thread woken for an item can make one without a string and
// without an allocation.

/// A thread's name in the kernel's form: at most 15 bytes of whole characters, then zeros.
public struct ThreadName: Equatable, Sendable {
  private var words: (UInt64, UInt64)

  /// Makes a name of the first 15 bytes of a text.
  ///
  /// - Parameter start: the first 16 bytes of the text as they lie in memory; zeros behind its end.
  public init(start: (UInt64, UInt64)) {
    words = start
    withUnsafeMutableBytes(of: &words) { bytes in
      if bytes[15] == 0 { return }
      // The text is longer. A character has at most 4 bytes, and all but the first begin with the
      // bits 10.
      var end = 15
      while end > 12 && bytes[end] & 0xc0 == 0x80 { end -= 1 }
      for place in end..<16 { bytes[place] = 0 }
    }
  }

  /// Makes a name of the first 15 bytes of a string.
  public init(_ text: String) {
    var text = text
    var start: (UInt64, UInt64) = (0, 0)
    text.withUTF8 { bytes in
      let first = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes.prefix(16)))
      withUnsafeMutableBytes(of: &start) { $0.copyMemory(from: first) }
    }
    self.init(start: start)
  }

  /// Calls `body` with the name as a NUL-terminated string.
  public func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    withUnsafeBytes(of: words) {
      // SAFETY: 16 bytes, of which the last is zero.
      body($0.assumingMemoryBound(to: CChar.self).baseAddress.unsafelyUnwrapped)
    }
  }

  public var text: String { withCString { String(cString: $0) } }

  public static func == (left: ThreadName, right: ThreadName) -> Bool { left.words == right.words }
}
