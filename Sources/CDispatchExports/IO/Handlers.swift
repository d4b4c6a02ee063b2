// Handlers of dispatch/io.h: a block, or a function with its context.

/// A client's handler with parameters. It retains a block; the client keeps a function's context
/// alive.
enum ClientHandler {
  /// A retained block.
  case block(HeldBlock)
  /// A function and its context.
  case function(UnsafeRawPointer, UnsafeMutableRawPointer?)

  init(_ block: UnsafeMutableRawPointer) { self = .block(HeldBlock(block)) }

  init<Function>(_ function: Function, _ context: UnsafeMutableRawPointer?) {
    self = .function(unsafeBitCast(function, to: UnsafeRawPointer.self), context)
  }

  /// Passes the code to call and its first argument; blocks and functions are alike from there on.
  private func with<Function>(
    _ type: Function.Type, _ body: (Function, UnsafeMutableRawPointer?) -> Void
  ) {
    switch self {
    case .block(let held):
      withExtendedLifetime(held) { body(held.block.invoke(as: type), held.block.literal) }
    case .function(let function, let context):
      body(unsafeBitCast(function, to: type), context)
    }
  }

  func callAsFunction(_ error: Int32) {
    with((@convention(c) (UnsafeMutableRawPointer?, Int32) -> Void).self) { $0($1, error) }
  }

  func callAsFunction() {
    with((@convention(c) (UnsafeMutableRawPointer?) -> Void).self) { $0($1) }
  }

  func callAsFunction(_ data: DispatchData?, _ error: Int32) {
    typealias Function = @convention(c) (UnsafeMutableRawPointer?, Handle?, Int32) -> Void
    with(Function.self) { function, first in
      guard let data else { return function(first, nil, error) }
      withHandle(data) { function(first, $0, error) }
    }
  }

  func callAsFunction(_ isDone: Bool, _ data: DispatchData?, _ error: Int32) {
    typealias Function = @convention(c) (UnsafeMutableRawPointer?, Bool, Handle?, Int32) -> Void
    with(Function.self) { function, first in
      guard let data else { return function(first, isDone, nil, error) }
      withHandle(data) { function(first, isDone, $0, error) }
    }
  }
}
