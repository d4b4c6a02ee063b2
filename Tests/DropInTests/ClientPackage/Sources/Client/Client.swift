import Dispatch

public func doubled(_ number: Int) async -> Int {
  await withCheckedContinuation { continuation in
    DispatchQueue.global().async { continuation.resume(returning: 2 * number) }
  }
}
