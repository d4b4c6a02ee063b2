// Purpose: writes a drawing to a file with a new name. This is the only file that the tour keeps.

import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

enum Drawing {
  /// Writes `text` to a new temporary file and returns the file's path.
  static func keep(_ text: String) -> Result<Path, FileFault> {
    let base = getenv("TMPDIR").map { Path(cString: $0) } ?? Path("/tmp")
    let ending = ".svg"
    var template = base.appending("tour-classes-XXXXXX\(ending)").bytes.map {
      CChar(bitPattern: $0)
    }
    template.append(0)
    let descriptor = mkstemps(&template, Int32(ending.utf8.count))
    let path = template.withUnsafeBufferPointer { Path(cString: $0.baseAddress!) }
    guard descriptor >= 0 else { return .failure(FileFault(path: path, code: errno)) }
    Machine.put(Array(text.utf8), to: descriptor)
    return close(descriptor) == 0 ? .success(path) : .failure(FileFault(path: path, code: errno))
  }
}
