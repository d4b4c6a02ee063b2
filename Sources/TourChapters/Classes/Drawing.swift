// Purpose: the one thing that the tour leaves behind on purpose: a drawing, in a file of a new
// name.

import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

enum Drawing {
  /// Puts `text` into a new file among the temporary ones.
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
