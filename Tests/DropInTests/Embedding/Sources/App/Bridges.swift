// Queues and data of the two modules in a program that embeds the engine: they are one engine's.
import Dispatch
import Glibc
import GrandCentral
import GrandCentralDispatchBridge

/// Whether queues of both types are targets of each other, in one hierarchy.
func bridgesAreTargets() -> Bool {
  let ours = GrandCentral.DispatchQueue(label: "ours")
  let theirs = ours.makeDispatchQueue(label: "theirs")
  let back = theirs.makeGrandCentralQueue(label: "back")
  let caller = pthread_self()
  return back.sync {
    GrandCentral.dispatchPrecondition(condition: .onQueue(ours))
    Dispatch.dispatchPrecondition(condition: .onQueue(theirs))
    // Between two engines a sync would be sent to another thread.
    return pthread_equal(pthread_self(), caller) != 0
  }
}

/// Whether data goes to the other type and back with its bytes.
func bridgesKeepBytes() -> Bool {
  let data = Array("bytes".utf8).withUnsafeBytes { GrandCentral.DispatchData(bytes: $0) }
  return Array(GrandCentral.DispatchData(sharing: Dispatch.DispatchData(sharing: data)))
    == Array(data)
}
