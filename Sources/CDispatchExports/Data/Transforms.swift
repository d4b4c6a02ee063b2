// dispatch_data_create_with_transform(): converts text between encodings. There are two families:
// bytes with their base 32 and base 64 texts, and Unicode. A conversion goes through the common
// form of its family, bytes or UTF-8.
import CGrandCentralStorage

/// Converts the bytes of `input` from one format to another. NULL if the formats are of different
/// families, if the input is invalid, or if the output is `utf_any`, which can only be read. UTF-8
/// that stays UTF-8 only loses its byte order mark, and is not validated: the toolchain's library
/// does not either, and programs pass text of unknown encoding through `utf_any`.
@c(dispatch_data_create_with_transform)
public func dispatchDataCreateWithTransform(
  _ input: Handle?, _ inputFormat: UnsafeRawPointer?, _ outputFormat: UnsafeRawPointer?
) -> Handle? {
  let from = gc_data_format(UInt32(gc_data_format_number(inputFormat)))
  let to = gc_data_format(UInt32(gc_data_format_number(outputFormat)))
  guard isUnicode(from) == isUnicode(to), to != GC_FORMAT_UTF_ANY, from.rawValue != 0,
    to.rawValue != 0
  else { return nil }
  let whole = data(input)
  if from == to && from == GC_FORMAT_NONE {
    if let input { dispatchRetain(input) }
    return input
  }
  guard let common = decoded([UInt8](whole), from), let made = encoded(common, to) else {
    return nil
  }
  return made.withUnsafeBytes { newHandle(DispatchData(bytes: $0)) }
}

private func isUnicode(_ format: gc_data_format) -> Bool {
  switch format {
  case GC_FORMAT_UTF8, GC_FORMAT_UTF16LE, GC_FORMAT_UTF16BE, GC_FORMAT_UTF_ANY: true
  default: false
  }
}

private func base(_ format: gc_data_format) -> BaseEncoding? {
  switch format {
  case GC_FORMAT_BASE32: .base32
  case GC_FORMAT_BASE32HEX: .base32Hex
  case GC_FORMAT_BASE64: .base64
  default: nil
  }
}

private func decoded(_ bytes: [UInt8], _ format: gc_data_format) -> [UInt8]? {
  switch format {
  case GC_FORMAT_UTF16LE: UnicodeEncoding.utf8(fromUTF16: bytes, isBigEndian: false)
  case GC_FORMAT_UTF16BE: UnicodeEncoding.utf8(fromUTF16: bytes, isBigEndian: true)
  case GC_FORMAT_UTF_ANY: UnicodeEncoding.utf8(fromAny: bytes)
  default: base(format).map { $0.decoded(bytes) } ?? bytes
  }
}

private func encoded(_ bytes: [UInt8], _ format: gc_data_format) -> [UInt8]? {
  switch format {
  case GC_FORMAT_UTF8: UnicodeEncoding.withoutMark(bytes)
  case GC_FORMAT_UTF16LE: UnicodeEncoding.utf16(fromUTF8: bytes, isBigEndian: false)
  case GC_FORMAT_UTF16BE: UnicodeEncoding.utf16(fromUTF8: bytes, isBigEndian: true)
  default: base(format).map { $0.encoded(bytes) } ?? bytes
  }
}
