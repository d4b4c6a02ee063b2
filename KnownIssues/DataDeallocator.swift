// DispatchData with a deallocator crashes, or frees its bytes twice
//
// A program hands a buffer to DispatchData without a copy, with a deallocator: none, free, munmap
// or its own. The bytes must live as long as any slice of them, and end exactly once.
//
// Reported: swift-corelibs-libdispatch, issue 947 (the blocks of the ready-made deallocators are
// retained though they are constants).
import Dispatch
import Foundation
import Synchronization

let ended = Atomic(0)

func body() {
  awaiting("the data with ready-made deallocators")
  for _ in 0..<1000 {
    let memory = UnsafeMutableRawBufferPointer(
      start: malloc(4096), count: 4096)
    _ = DispatchData(bytesNoCopy: UnsafeRawBufferPointer(memory), deallocator: .free).count
    let pages = mmap(nil, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    let mapped = UnsafeRawBufferPointer(start: pages, count: 4096)
    _ = DispatchData(bytesNoCopy: mapped, deallocator: .unmap).count
  }
  awaiting("the deallocators of 1,000 data")
  let count = 1000
  let queue = DispatchQueue(label: "com.example.memory")
  for number in 0..<count {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 16)
    bytes.initializeMemory(as: UInt8.self, repeating: UInt8(number % 256))
    let address = UInt(bitPattern: bytes.baseAddress)
    var slice: DispatchData? = DispatchData(
      bytesNoCopy: UnsafeRawBufferPointer(bytes),
      deallocator: .custom(queue) {
        UnsafeMutableRawPointer(bitPattern: address)!.deallocate()
        ended.add(1, ordering: .sequentiallyConsistent)
      }
    ).subdata(in: 16..<32)
    if slice!.contains(where: { $0 != UInt8(number % 256) }) {
      decide(false, "the bytes changed while a slice of them was in use")
    }
    slice = nil
  }
  while ended.load(ordering: .sequentiallyConsistent) < count { sleep_ms(1) }
  queue.sync {}
  let calls = ended.load(ordering: .sequentiallyConsistent)
  decide(calls == count, "the deallocators of \(count) data were called \(calls) times")
}

promise("bytes without a copy end once, after their last slice, for each deallocator", body)
