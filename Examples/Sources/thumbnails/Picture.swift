// A picture of red, green and blue bytes, and its file: "P6 WIDTH HEIGHT 255", then the bytes.

import Glibc

struct Picture: Sendable {
  private(set) var (width, height): (Int, Int)
  private(set) var bytes: [UInt8]

  /// Reads a file. `nil`: it is no such picture, or cannot be read.
  init?(file: String) {
    guard let stream = fopen(file, "rb") else { return nil }
    defer { fclose(stream) }
    func word() -> String? {
      var characters: [UInt8] = []
      while case let next = getc(stream), next != EOF {
        if isspace(next) == 0 {
          characters.append(UInt8(next))
        } else if !characters.isEmpty {
          break
        }
      }
      return characters.isEmpty ? nil : String(decoding: characters, as: UTF8.self)
    }
    guard word() == "P6", let width = word().flatMap({ Int($0) }), 1...65536 ~= width,
      let height = word().flatMap({ Int($0) }), 1...65536 ~= height, word() == "255"
    else { return nil }
    (self.width, self.height) = (width, height)
    bytes = [UInt8](repeating: 0, count: width * height * 3)
    guard fread(&bytes, 1, bytes.count, stream) == bytes.count else { return nil }
  }

  /// Halves both sides until they fit. Each point becomes the mean of four.
  func shrunk(to side: Int) -> Picture {
    var picture = self
    while max(picture.width, picture.height) > side { picture.halve() }
    return picture
  }

  private mutating func halve() {
    let (old, oldWidth, oldHeight) = (bytes, width, height)
    (width, height) = (max(1, width / 2), max(1, height / 2))
    bytes.removeLast(old.count - width * height * 3)
    for row in 0..<height {
      for column in 0..<width {
        let (right, below) = (min(2 * column + 1, oldWidth - 1), min(2 * row + 1, oldHeight - 1))
        for colour in 0..<3 {
          func at(_ x: Int, _ y: Int) -> Int { Int(old[(y * oldWidth + x) * 3 + colour]) }
          let sum =
            at(2 * column, 2 * row) + at(right, 2 * row) + at(2 * column, below) + at(right, below)
          bytes[(row * width + column) * 3 + colour] = UInt8(sum / 4)
        }
      }
    }
  }

  /// Writes a file. Returns whether all of it was written.
  func write(to file: String) -> Bool {
    guard let stream = fopen(file, "wb") else { return false }
    let head = "P6\n\(width) \(height)\n255\n"
    let isWritten =
      fputs(head, stream) >= 0 && fwrite(bytes, 1, bytes.count, stream) == bytes.count
    return fclose(stream) == 0 && isWritten
  }
}
