import Testing

/// Whether an exit test's process wrote `text` to standard error.
func says(_ result: ExitTest.Result?, _ text: String) -> Bool {
  String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).contains(text)
}
