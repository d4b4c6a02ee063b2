// The reader of events beside threads that recycle their chunks all the time.
import GrandCentralInside
import TestSupport
import Testing

@testable import GrandCentralCore

/// The part of a board that has events, in memory that starts as zeros. Four chunks are in use.
private final class EventMemory: BoardSource, @unchecked Sendable {
  private static var bytes: Int { EventLayout.chunksOffset + 4 * EventLayout.chunkBytes }
  private let start = UnsafeMutableRawPointer.allocate(
    byteCount: bytes, alignment: EventLayout.headerBytes)
  private let lock = Monitor()
  // Under the lock: the chunks that no writer has, the one that was given back first at the front.
  private var free = [0, 1, 2, 3]
  private var turns: [UInt64] = [0, 0, 0, 0]

  init() { start.initializeMemory(as: UInt8.self, repeating: 0, count: Self.bytes) }

  deinit { start.deallocate() }

  func read(at offset: Int, into words: UnsafeMutableBufferPointer<UInt64>) -> Int {
    let own = BlackBox.words(at: start + offset)
    let count = min(words.count, (Self.bytes - offset) / 8)
    for index in 0..<count {
      words.initializeElement(at: index, to: own[index].load(ordering: .acquiring))
    }
    return count
  }

  /// Fills a chunk for `owner`. Each event has its owner, the turn of the chunk, and its number.
  func fillChunk(owner: UInt64) {
    let (index, turn) = lock.withLock {
      let index = free.removeFirst()
      turns[index] += 2
      return (index, turns[index])
    }
    let chunk = EventChunk(
      header: BlackBox.words(
        at: start + EventLayout.directoryOffset + index * EventLayout.headerBytes),
      words: BlackBox.words(at: start + EventLayout.chunksOffset + index * EventLayout.chunkBytes))
    chunk.recycle(
      turn: turn, owner: UInt32(owner), base: turn, previous: UInt64(EventLayout.chunkWords))
    for event in 0..<EventLayout.chunkWords {
      chunk.put(owner << 56 | turn << 16 | UInt64(event), at: event)
      chunk.publish(event + 1)
    }
    lock.withLock { free.append(index) }
  }
}

@Suite("A reader of events") struct EventReadTests {
  @Test func `gets no torn event in ten million reads beside threads that recycle chunks`() {
    let memory = EventMemory()
    let isOver = Latch()
    let writers = (1...3).map { owner in
      TestThread("writer-\(owner)") {
        while !isOver.isOpen { memory.fillChunk(owner: UInt64(owner)) }
      }
    }
    var reader = EventReader()
    var (reads, torn) = (0, 0)
    // Also until some words were overwritten before they were read: a chunk was recycled.
    while reads < stressed(10_000_000) || reader.lostWords == 0 {
      for batch in reader.read(memory) {
        var expected = UInt64(batch.thread) << 56 | batch.base << 16 | (batch.words[0] & 0xffff)
        for word in batch.words {
          if word != expected { torn += 1 }
          expected += 1
        }
        reads += batch.words.count
      }
    }
    isOver.open()
    #expect(torn == 0)
    #expect(writers.allSatisfy { $0.join() })
  }
}
