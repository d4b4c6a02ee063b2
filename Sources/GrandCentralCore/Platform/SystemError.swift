// Room: Platform/SystemError. An errno that a caller is expected to handle.

struct SystemError: Error, Equatable {
  let number: Int32
}
