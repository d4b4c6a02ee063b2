// Room: Primitives/AmpleStack. First uses, on threads with the smallest stack that there is.
// A program may give its threads 16 KiB. The engine's paths take a tenth of that, but the Swift
// runtime takes nearly all of it when it meets a generic type for the first time. So what is made
// on first use is made through this call, and there also meets the types that come up later.
import CGrandCentralLinux

/// Calls `body` on the calling thread, on another stack if the thread has little of its own.
@inline(__always)
public func withAmpleStack(_ body: () -> Void) {
  if currentThread().pointee.has_ample_stack { return body() }
  askForAmpleStack(body)
}

@inline(never)
private func askForAmpleStack(_ body: () -> Void) {
  withoutActuallyEscaping(body) { body in
    withUnsafePointer(to: Call(body: body)) { call in
      gc_with_ample_stack(
        { $0.unsafelyUnwrapped.assumingMemoryBound(to: Call.self).pointee.body() },
        UnsafeMutableRawPointer(mutating: call))
    }
  }
}

private struct Call {
  let body: () -> Void
}
