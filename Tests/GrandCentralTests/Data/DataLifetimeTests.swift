// When buffers are freed, and on which queue: contract rows D1 and D2.
import Glibc
import GrandCentral
import TestSupport
import Testing

@Suite("A buffer of data") struct DataLifetimeTests {
  @Test func `is freed on the queue it names, asynchronously`() {
    let queue = DispatchQueue(label: "deallocator")
    let key = DispatchSpecificKey<Int>()
    queue.setSpecific(key: key, value: 7)
    let found = Log<Int>()
    queue.sync {
      _ = DispatchData(client: [1, 2, 3], on: queue) {
        found.append(DispatchQueue.getSpecific(key: key) ?? 0)
      }
      #expect(found.all.isEmpty)
    }
    #expect(found.waitForCount(1))
    #expect(found.all == [7])
  }

  @Test func `is freed on a worker when no queue is named`() {
    let threads = Log<Int>()
    _ = DispatchData(client: [1]) { threads.append(threadID()) }
    #expect(threads.waitForCount(1))
    #expect(!threads.all.contains(threadID()))
  }

  @Test func `is freed at once when it holds no bytes`() {
    let gone = Latch(3)
    let empty = UnsafeRawBufferPointer(start: nil, count: 0)
    let first = DispatchData(bytesNoCopy: empty, deallocator: .custom(nil, { gone.open() }))
    let second = DispatchData(client: []) { gone.open() }
    let third = DispatchData(
      bytesNoCopy: empty, deallocator: .custom(DispatchQueue.global(), { gone.open() }))
    #expect(gone.wait())
    #expect(first.isEmpty && second.isEmpty && third.isEmpty)
    #expect(DispatchData(bytesNoCopy: empty, deallocator: .unmap).isEmpty)
    #expect(DispatchData(bytesNoCopy: empty).isEmpty)
  }

  @Test func `is unmapped`() {
    let size = 4 * Int(getpagesize())
    let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
    memory.storeBytes(of: 5, as: UInt8.self)
    do {
      let data = DispatchData(
        bytesNoCopy: UnsafeRawBufferPointer(start: memory, count: size), deallocator: .unmap)
      #expect(data[0] == 5)
      #expect(isMapped(memory))
    }
    #expect(!isMapped(memory))
  }

  @Test func `lives as long as one byte of it is in use`() {
    let freed = Log<Int>()
    var parts: [DispatchData] = []
    do {
      var data = DispatchData.empty
      for number in 0..<200 {
        data.append(DispatchData(client: pattern(10)) { freed.append(number) })
      }
      parts = [
        data.subdata(in: 55..<56), data.subdata(in: 999..<1_011), data.region(location: 3).0,
      ]
    }
    // The parts keep pieces 5; 99, 100 and 101; and 0.
    #expect(freed.waitForCount(195))
    settle()
    #expect(Set(freed.all).count == 195)
    #expect(Set(freed.all).isDisjoint(with: [0, 5, 99, 100, 101]))
    parts.removeFirst()
    #expect(freed.waitForCount(196))
    parts.removeAll()
    #expect(freed.waitForCount(200))
    #expect(freed.all.sorted() == Array(0..<200))
  }

  @Test func `is not copied when it is a client's, however small`() {
    let gone = Latch()
    var data = DispatchData(pattern(10))
    data.append(DispatchData(client: [1]) { gone.open() })
    data.append(DispatchData([2]))
    settle()
    #expect(!gone.isOpen)
    #expect(Array(data) == pattern(10) + [1, 2])
    data = .empty
    #expect(gone.wait())
  }

  @Test func `is freed once although many threads release it at the same time`() {
    let freed = Counter()
    for _ in 0..<200 {
      var data = DispatchData.empty
      for _ in 0..<3 { data.append(DispatchData(client: pattern(50)) { freed.add() }) }
      let shared = Box<DispatchData>(data)
      data = .empty
      let done = Latch(4)
      for part in 0..<4 {
        DispatchQueue.global().async {
          let own = shared.value.subdata(in: part * 30..<part * 30 + 60)
          shared.value = .empty
          if own.count == 60 && own[0] != UInt8(part * 30 % 50) { freed.add(1_000_000) }
          done.open()
        }
      }
      #expect(done.wait())
    }
    #expect(freed.waitForValue(600))
    settle()
    #expect(freed.value == 600)
  }

  @Test func `may be the last user of others in its deallocator`() {
    let freed = Log<Int>()
    do {
      var inner: DispatchData? = DispatchData(client: [0]) { freed.append(0) }
      for level in 1..<100 {
        let kept = inner
        inner = DispatchData(client: [UInt8(level)]) {
          _ = kept?.count
          freed.append(level)
        }
      }
    }
    #expect(freed.waitForCount(100))
    #expect(freed.all.sorted() == Array(0..<100))
  }

  @Test func `may be one of a million that die at once on a small stack`() {
    let freed = Counter()
    let done = TestThread {
      var data = DispatchData.empty
      let one = DispatchData(client: [1]) { freed.add() }
      for _ in 0..<1_000_000 { data.append(one) }
      #expect(data.count == 1_000_000)
    }.join()
    #expect(done)
    #expect(freed.waitForValue(1))
  }

  private func isMapped(_ address: UnsafeMutableRawPointer) -> Bool {
    // mincore(2): ENOMEM means that the address is not mapped.
    var resident: UInt8 = 0
    return mincore(address, 1, &resident) == 0
  }
}
