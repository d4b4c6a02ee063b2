// Purpose: sorts files into a few kinds by their extension, for the tour's summary.

public enum FileKind: String, CaseIterable, Sendable {
  case header, source, module, library, document, picture, data, other

  /// The kind of files with this extension, which is in lower case and without its dot.
  public init(extension suffix: String) {
    self =
      switch suffix {
      case "h", "hh", "hpp", "hxx", "inc", "tcc", "ipp", "def": .header
      case "c", "cc", "cpp", "cxx", "swift", "py", "pl", "sh", "rb", "js", "ts", "go", "rs": .source
      case "swiftmodule", "swiftinterface", "swiftdoc", "swiftsourceinfo", "modulemap", "abi":
        .module
      case "so", "a", "o", "la", "dylib": .library
      case "txt", "md", "html", "htm", "pdf", "tex", "css", "man", "1", "3", "7", "8": .document
      case "png", "jpg", "jpeg", "gif", "svg", "svgz", "ico", "webp": .picture
      case "json", "xml", "yml", "yaml", "plist", "tsv", "csv", "db", "mo", "po", "dat": .data
      default: .other
      }
  }
}
