// Purpose: the checksum equals POSIX's, however the input is divided.

import Glibc
import Testing
import TourKit

@Suite("The checksum") struct ChecksumTests {
  @Test(
    arguments: [
      ("", 4_294_967_295), ("a", 1_220_704_766), ("abc", 1_219_131_554),
      ("123456789", 930_766_865),
      ("The quick brown fox jumps over the lazy dog", 2_074_844_392),
    ] as [(String, UInt32)])
  func `has the values that POSIX cksum prints`(text: String, value: UInt32) {
    #expect(PosixChecksum.of(Array(text.utf8)) == value)
  }

  @Test func `does not depend on how the bytes are cut`() {
    let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 167) }
    let whole = PosixChecksum.of(bytes)
    for step in [1, 2, 3, 15, 16, 17, 31, 33, 999] {
      var checksum = PosixChecksum()
      bytes.withUnsafeBytes { buffer in
        for start in stride(from: 0, to: bytes.count, by: step) {
          let end = min(start + step, bytes.count)
          checksum.update(UnsafeRawBufferPointer(rebasing: buffer[start..<end]))
        }
      }
      #expect(checksum.value == whole)
      #expect(checksum.count == 1000)
    }
  }

  @Test func `agrees with the cksum command on every length up to 300 bytes`() throws {
    let seed: UInt64 = 20_091
    var random = SeededNumbers(seed: seed)
    let folder = try MadeFolder()
    var expected: [String] = []
    var files: [Path] = []
    for length in 0..<300 {
      let bytes = (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      files.append(try folder.file("\(length)", bytes))
      expected.append("\(PosixChecksum.of(bytes)) \(length) \(files[length])")
    }
    let end: Child.End
    do {
      end = try Child(Path("cksum"), files).end()
    } catch let error as MakingFailed where error.code == ENOENT {
      return  // This machine lacks the command; the known values above cover it.
    }
    let lines = end.output.split(separator: "\n").map(String.init)
    #expect(lines == expected, "seed \(seed)")
  }
}
